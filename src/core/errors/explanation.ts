import { ignoreErrors } from "../checks/ignore-errors.ts";
import { fieldsOf } from "../checks/values.ts";

/** The texts of one error, which may hold secrets. A text that it does not have is empty. */
export interface ErrorWords {
  /** `<code> <name>: <message>`. */
  readonly line: string;
  readonly code: string;
  readonly message: string;
}

const MAX_DEPTH = 6;

/** Why something failed, in the words of others, which may hold secrets. */
export interface Explanation {
  /** The error and its causes, the outermost first; nothing if they throw when they are read. */
  readonly chain: readonly ErrorWords[];
  readonly platformCode: string | undefined;
  readonly why: string;
}

/** The error and its causes, the outermost first, as far as a person reads. */
export function causesOf(thrown: unknown): readonly unknown[] {
  const causes: unknown[] = [];
  for (let error = thrown; error !== undefined && causes.length < MAX_DEPTH; ) {
    causes.push(error);
    error = fieldsOf(error)["cause"];
  }
  return causes;
}

export function explain(thrown: unknown): Explanation {
  const chain = ignoreErrors(() => causesOf(thrown).flatMap(triedIn).map(wordsOf)) ?? [];
  const platformCode = chain.find(({ code }) => code !== "")?.code;
  const messages = chain.map(({ message }) => message).filter((message) => message !== "");
  const reason = messages.at(-1) ?? platformCode ?? "it does not say why";
  const saysCode = platformCode === undefined || chain.some(({ code }) => code !== "" && reason.includes(code));
  const why = saysCode ? reason : `${reason} (${platformCode})`;
  return { chain, platformCode, why };
}

/** Of several connections that were tried, each says why it failed. */
function triedIn(error: unknown): readonly unknown[] {
  const { errors } = fieldsOf(error);
  return Array.isArray(errors) && errors.length > 0 ? errors.slice(0, MAX_DEPTH) : [error];
}

function wordsOf(error: unknown): ErrorWords {
  const fields = fieldsOf(typeof error === "string" ? { message: error } : error);
  const text = (name: string): string => {
    const value = fields[name];
    return typeof value === "string" ? value : "";
  };
  const [code, message] = [text("code"), text("message")];
  return { line: `${code} ${text("name")}: ${message}`, code, message };
}
