import { DEFAULT_RETRY, mergeSettings, type Settings, SHARED_OPTIONS } from "../core/call/settings.ts";
import { namesOf } from "../core/checks/hints.ts";
import { ignoreErrors } from "../core/checks/ignore-errors.ts";
import { invalid } from "../core/checks/invalid-input.ts";
import {
  BOOLEAN,
  countFrom,
  functions,
  mapped,
  oneOf,
  type Parsed,
  parseOptions,
  type Shape,
  typed,
  type Validator,
  validator,
  withMethods,
} from "../core/checks/validators.ts";
import { fieldsOf, hasMethods, isPlainObject } from "../core/checks/values.ts";
import { asErrorClass } from "../core/errors/as-error-class.ts";
import { ConfigError } from "../core/errors/classes.ts";
import type { ClientEvent, Logger } from "../core/events.ts";
import type { Instrumentation } from "../core/instrumentation.ts";
import { memoryRateLimiter } from "../core/rate-limit/memory-rate-limiter.ts";
import type { RateLimiter } from "../core/rate-limit/rate-limiter.ts";
import { Redactor } from "../core/secrets/redact.ts";
import { ProviderToken } from "../core/token/provider-token.ts";
import { StaticToken } from "../core/token/static-token.ts";
import { parseToken } from "../core/token/token-format.ts";
import type { TokenProvider, TokenSourceFactory } from "../core/token/token-source.ts";
import { parseFetchOptions } from "../core/wire/fetch-options.ts";
import type { FetchFunction } from "../core/wire/http-request.ts";
import { ownNeeded, parseService } from "../core/wire/service.ts";
import { fromEnvironment, refuseMissing, refuseUndefined, VARIABLES, withEnvironment } from "./environment.ts";
import { LOG_LEVEL, levelOfEnvironment } from "./logging.ts";
import type { ClientOptions } from "./options.ts";

export interface ClientSettings extends Settings, Readonly<Omit<ClientOptions, keyof Settings | "token">> {
  readonly token: TokenSourceFactory;
}

const DEFAULTS: Omit<Settings, "baseUrl" | "rateLimiter"> = {
  timeoutMs: 30_000,
  totalTimeoutMs: Number.POSITIVE_INFINITY,
  retry: DEFAULT_RETRY,
  headers: { accept: "application/json" },
  maxConcurrency: 10,
  validation: "strict",
  maxResponseBytes: 4 * 1024 * 1024,
};

const LIMITER = withMethods<RateLimiter>("a RateLimiter", "enter", "snapshot");
const RATE_LIMITER: Validator<RateLimiter> = {
  ...LIMITER,
  hint: (value) =>
    hasMethods(value, "eval")
      ? ": pass redisRateLimiter({ client }) of project-automation/redis"
      : LIMITER.hint?.(value),
};

const CLIENT_OPTIONS = namesOf("client", {
  baseUrl: validator("", parseService),
  token: validator("", tokenFactoryOf),
  ...SHARED_OPTIONS,
  maxConcurrency: countFrom(1),
  rateLimiter: RATE_LIMITER,
  fetch: functions<FetchFunction>(),
  fetchOptions: mapped(typed("a plain object", isPlainObject), parseFetchOptions),
  onEvent: functions<(event: ClientEvent) => unknown>(),
  logger: withMethods<Logger>("a logger", "debug", "info", "warn", "error"),
  logLevel: LOG_LEVEL,
  instrumentation: withMethods<Instrumentation>("an instrumentation", "begin"),
  validation: oneOf("strict", "lenient"),
  maxResponseBytes: countFrom(1),
  allowInsecureHttp: BOOLEAN,
} satisfies Shape<ClientOptions>);

type ParsedClientOptions = Parsed<typeof CLIENT_OPTIONS>;

/**
 * Parses and copies every option, so that later changes of `options` have no effect. Missing options come from `parent`, the
 * client that this one is derived from, then from the environment, then from the defaults.
 */
export function settingsOf(options: ClientOptions | undefined, parent?: ClientSettings): ClientSettings {
  const own = parseOptions(options, "options", CLIENT_OPTIONS);
  refuseUndefined(options ?? {}, parent !== undefined);
  return mergeSettings<ClientSettings>(
    own,
    parent === undefined ? outsideSettings(own) : inheritedSettings(own, parent),
  );
}

/** The settings that a client's options do not decide: from the environment, else the defaults. */
function outsideSettings(own: ParsedClientOptions): ClientSettings {
  const { baseUrl, token, ...rest } = withEnvironment(own);
  if (baseUrl === undefined || token === undefined) refuseMissing({ baseUrl, token, ...rest });
  const logLevel = levelOfEnvironment(fromEnvironment("PROJECT_AUTOMATION_LOG"));
  return {
    ...DEFAULTS,
    baseUrl,
    token: typeof token === "string" ? tokenFactoryOf(token, VARIABLES.token) : token,
    rateLimiter: own.rateLimiter ?? memoryRateLimiter(),
    ...(logLevel && { logLevel }),
  };
}

const NONE = {
  headers: "headers: {}",
  fetchOptions: "fetchOptions: {}",
  allowInsecureHttp: "allowInsecureHttp: false",
};

/** The settings of a client as those of a derived one begin. What belongs to its service is left out for another. */
function inheritedSettings(own: ParsedClientOptions, parent: ClientSettings): ClientSettings {
  const { baseUrl, token, headers, fetchOptions = {}, allowInsecureHttp } = parent;
  const needed = ownNeeded(own, {
    baseUrl,
    token,
    headers: Object.entries(headers).some(([name, value]) => DEFAULTS.headers[name] !== value) ? headers : undefined,
    fetchOptions: Object.keys(fetchOptions).length > 0 ? fetchOptions : undefined,
    allowInsecureHttp: allowInsecureHttp || undefined,
  });
  if (needed.length > 0) {
    const none = needed.flatMap((name) => (name === "token" ? [] : NONE[name])).join(", ");
    invalid(
      `withOptions: ${own.baseUrl} is another service than that of this client (${baseUrl}), and needs ${needed.join(", ")} of its own${none && ` (for none: ${none})`}`,
    );
  }
  if (own.baseUrl === undefined || own.baseUrl === baseUrl) return parent;
  return { ...parent, headers: DEFAULTS.headers };
}

function tokenFactoryOf(token: unknown, what?: string): TokenSourceFactory {
  // A provider's token is checked when the provider returns it.
  if (typeof token === "function") return { createSource: () => new ProviderToken(token as TokenProvider) };
  if (hasMethods(token, "createSource")) return token as TokenSourceFactory; // it has its method
  const text = parseToken(token, what);
  return { createSource: () => new StaticToken(text) };
}

/** The boundary of all options: what is refused becomes a `ConfigError`, which does not show the token. */
export function configuring<Result>(options: unknown, parse: () => Result): Result {
  return asErrorClass(ConfigError, parse, (problem) => {
    const own = ignoreErrors(() => fieldsOf(options)["token"]);
    const known = [own, fromEnvironment(VARIABLES.token)];
    return new Redactor({ tokens: known.filter((token) => typeof token === "string") }).text(problem);
  });
}
