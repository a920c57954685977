import { ignoreErrors } from "../core/checks/ignore-errors.ts";
import { isBrandedError } from "../core/errors/automation-error.ts";
import { explain } from "../core/errors/explanation.ts";
import { Redactor } from "../core/secrets/redact.ts";
import { visible } from "./foreign-text.ts";

const LONGEST_LINE = 500;
/** Of no client: it finds secrets by the name before them. */
const REDACTOR = new Redactor({ tokens: [] });

/** Writes on standard error what is hidden from the model. Never throws: standard error may be closed. */
export function report(topic: string, thrown: unknown): void {
  const why = isBrandedError(thrown) ? thrown.message : explain(thrown).why;
  const line = REDACTOR.line(visible(why), LONGEST_LINE);
  ignoreErrors(() => console.error(`project-automation mcp: ${topic}: ${line}`));
}
