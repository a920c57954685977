import { FUNCTION, kind, type Shape } from "../check.ts";
import { ArgumentError } from "../errors/client-errors.ts";
import type { CallOptions } from "./operation.ts";
import { type CallSettings, SettingsCheck, SHARED_OPTIONS } from "./settings.ts";

const check: SettingsCheck = new SettingsCheck(ArgumentError);

const LISTENING = ["addEventListener", "removeEventListener"];

const CALL_OPTIONS: Shape<CallOptions> = {
  ...SHARED_OPTIONS,
  // Duck-typed, since another realm's signals are no instances of ours.
  signal: kind(
    "an AbortSignal",
    (value) =>
      typeof value === "object" && value !== null && "aborted" in value && LISTENING.every((name) => name in value),
  ),
  onRequest: FUNCTION,
  onResponse: FUNCTION,
};

/** A call's options laid over what its client goes by. */
export function settingsOf(
  options: CallOptions | undefined,
  client: CallSettings,
): CallSettings & Pick<CallOptions, "signal" | "onRequest" | "onResponse"> {
  if (options === undefined) return client;
  const given = check.options(options, "options", CALL_OPTIONS);
  return { ...given, ...check.over(given, client) };
}

/**
 * The options of a method that takes more than a call does, as they are now: what becomes of them later changes nothing.
 * `own` are those that only this method takes; the others are checked again where they are used.
 */
export function copyOptions<Options extends CallOptions>(
  options: Options | undefined,
  what: string,
  own: Shape<Omit<Options, keyof CallOptions>>,
): Options {
  return check.guarded(() => {
    const copy = check.options<CallOptions>(options, what, { ...CALL_OPTIONS, ...own });
    const { retry, headers } = copy;
    return {
      ...copy,
      ...(headers === undefined ? {} : { headers: check.headers(headers) }),
      ...(typeof retry === "object" ? { retry: { ...retry } } : {}),
    } as Options; // the same options
  });
}
