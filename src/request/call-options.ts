import { FUNCTION, type Kinds, kind } from "../check.ts";
import { ArgumentError } from "../errors/failures.ts";
import type { CallOptions } from "./operation.ts";
import { millisecondsOf, type RetryRules, SettingsCheck, SHARED_OPTIONS } from "./settings.ts";

/** What a call goes by. A client has the same, and calls lay their own over it. */
export interface CallSettings {
  readonly timeoutMs: number;
  readonly totalTimeoutMs: number;
  readonly retry: RetryRules;
  readonly headers: Readonly<Record<string, string>>;
}

const check: SettingsCheck = new SettingsCheck(ArgumentError);

const CALL_OPTIONS: Kinds<CallOptions> = {
  ...SHARED_OPTIONS,
  // Duck-typed, since another realm's signals are no instances of ours.
  signal: kind(
    "an AbortSignal",
    (value) => typeof value === "object" && value !== null && "aborted" in value && "addEventListener" in value,
  ),
  onResponse: FUNCTION,
};

/** A call's options laid over what its client goes by. */
export function settingsOf(
  options: CallOptions | undefined,
  client: CallSettings,
): CallSettings & Pick<CallOptions, "signal" | "onResponse"> {
  if (options === undefined) return client;
  const { timeoutMs, totalTimeoutMs, retry, headers, ...others } = check.options(options, "options", CALL_OPTIONS);
  return {
    ...others,
    timeoutMs: millisecondsOf(timeoutMs) ?? client.timeoutMs,
    totalTimeoutMs: millisecondsOf(totalTimeoutMs) ?? client.totalTimeoutMs,
    retry: check.retry(retry, client.retry),
    headers: headers === undefined ? client.headers : { ...client.headers, ...check.headers(headers) },
  };
}

/**
 * The options of a method that takes more than a call does, as they are now: what becomes of them later changes nothing.
 * `own` are those that only this method takes; the others are checked again where they are used.
 */
export function copyOptions<Options extends CallOptions>(
  options: Options | undefined,
  what: string,
  own: Kinds<Omit<Options, keyof CallOptions>>,
): Options {
  const copy = check.options<CallOptions>(options, what, { ...CALL_OPTIONS, ...own });
  const { retry, headers } = copy;
  return {
    ...copy,
    ...(headers === undefined ? {} : { headers: check.headers(headers) }),
    ...(typeof retry === "object" ? { retry: { ...retry } } : {}),
  } as Options; // the same options
}
