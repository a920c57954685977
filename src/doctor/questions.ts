import type { Question } from "./question.ts";
import { ADDRESS_QUESTIONS } from "./questions/address.ts";
import { HEADER_QUESTIONS } from "./questions/headers.ts";
import { LIST_QUESTIONS } from "./questions/lists.ts";
import { PROXY_QUESTIONS } from "./questions/proxies.ts";
import { RECORD_QUESTIONS } from "./questions/records.ts";
import { REFUSAL_QUESTIONS } from "./questions/refusals.ts";
import { SCOPE_QUESTIONS } from "./questions/scopes.ts";
import { TOKEN_QUESTIONS } from "./questions/tokens.ts";

export const QUESTIONS: readonly Question[] = [
  ...ADDRESS_QUESTIONS,
  ...SCOPE_QUESTIONS,
  ...LIST_QUESTIONS,
  ...RECORD_QUESTIONS,
  ...HEADER_QUESTIONS,
  ...REFUSAL_QUESTIONS,
  ...PROXY_QUESTIONS,
  ...TOKEN_QUESTIONS,
];
