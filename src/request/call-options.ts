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

const NOTHING = { signal: undefined, onRequest: undefined, onResponse: undefined };

/** A call's options laid over what its client goes by. */
export function settingsOf(
  options: CallOptions | undefined,
  client: CallSettings,
): CallSettings & Pick<CallOptions, "signal" | "onRequest" | "onResponse"> {
  const given = options === undefined ? undefined : check.options(options, "options", CALL_OPTIONS);
  const { timeoutMs, totalTimeoutMs, retry, headers } = given === undefined ? client : check.over(given, client);
  // Each field is its own, also where it is undefined: what is on Object.prototype is no option.
  const { signal, onRequest, onResponse } = given ?? NOTHING;
  return { timeoutMs, totalTimeoutMs, retry, headers, signal, onRequest, onResponse };
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
    // Like what was checked, it inherits nothing.
    return Object.assign(Object.create(null), copy, {
      ...(headers === undefined ? {} : { headers: check.headers(headers) }),
      ...(typeof retry === "object" ? { retry: { ...retry } } : {}),
    }) as Options; // the same options
  });
}
