import { ignoreErrors } from "../checks/ignore-errors.ts";

/** What an error says: texts of others, which may hold secrets. What it does not say is empty. */
export interface Evidence {
  /** `<code> <syscall> <name>: <message>`. */
  readonly line: string;
  readonly code: string;
  readonly message: string;
  /** The host that it is about: `host` of a name that was not found, `address:port` of a refused connection. */
  readonly host: string;
}

/** Errors nest, and a failed dual-stack connect is an AggregateError. */
const MAX_DEPTH = 6;

/** Why something failed, in the words of others, which may hold secrets. */
export interface Explanation {
  /** What was thrown and its causes, the outermost first; nothing if they throw when they are read. */
  readonly evidence: readonly Evidence[];
  readonly platformCode: string | undefined;
  /** The platform's code, or the reason without one. */
  readonly code: string;
  /** The words of the innermost cause that has any. */
  readonly reason: string;
  /** Both. */
  readonly why: string;
}

/** Reads what was thrown. */
export function explain(thrown: unknown): Explanation {
  const evidence = ignoreErrors(() => readCauses(thrown, 1)) ?? [];
  const platformCode = evidence.find(({ code }) => code !== "")?.code;
  const messages = evidence.map(({ message }) => message).filter((message) => message !== "");
  const reason = messages.at(-1) ?? platformCode ?? "it does not say why";
  const why = reason.includes(platformCode ?? "") ? reason : `${reason} (${platformCode})`;
  return { evidence, platformCode, code: platformCode ?? reason, reason, why };
}

function readCauses(error: unknown, depth: number): Evidence[] {
  if (error === undefined || depth > MAX_DEPTH) return [];
  // Of several connections that were tried, each says why it failed.
  const tried: unknown[] = error instanceof AggregateError ? error.errors.slice(0, MAX_DEPTH) : [];
  const { cause } = Object(error) as { cause?: unknown }; // anything may be thrown
  return [...(tried.length > 0 ? tried : [error]).map(readEvidence), ...readCauses(cause, depth + 1)];
}

function readEvidence(error: unknown): Evidence {
  const fields = (typeof error === "string" ? { message: error } : Object(error)) as Readonly<Record<string, unknown>>; // any object can be asked
  const text = (name: string): string => {
    const value = fields[name];
    return typeof value === "string" ? value : "";
  };
  const [code, message, address] = [text("code"), text("message"), text("address")];
  // Where an error was copied without its fields, as node-fetch does, Node's message still names the host.
  const named = /(?:\b(?:connect|getaddrinfo) [A-Z_]+|\(attempted address:) ([^\s,]+)(?:,|$)/.exec(message);
  return {
    line: `${code} ${text("syscall")} ${text("name")}: ${message}`,
    code,
    message,
    host: text("hostname") || (address && `${address}:${String(fields["port"])}`) || (named?.[1] ?? ""),
  };
}
