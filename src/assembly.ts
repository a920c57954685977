import { ProviderToken } from "./auth/provider-token.ts";
import { StaticToken } from "./auth/static-token.ts";
import type { Rotate, TokenSource } from "./auth/token-source.ts";
import { bare, refuse } from "./base/check.ts";
import { checkTransport } from "./base-url.ts";
import { combine, type Instrumentation } from "./instrumentation.ts";
import { LOG_LEVELS, type LogLevel, logCalls, standardErrorLogger } from "./logging.ts";
import type { CreatedToken } from "./models.ts";
import { type ClientOptions, type Complete, checkOptions, fromEnvironment, type Settings } from "./options.ts";
import { memoryRateLimiter } from "./rate-limit/memory-rate-limiter.ts";
import type { Pipeline } from "./request/call.ts";
import { createHttp } from "./request/http.ts";
import { createSend } from "./request/send.ts";
import { rotation } from "./resources/tokens.ts";

/** What a client is made of, and what another can be derived from. */
export interface Assembly {
  /** Without the token: the token source alone holds it, and a copy here would stay when it is swapped. */
  readonly settings: Omit<Complete, "token">;
  readonly pipeline: Pipeline;
}

/** Makes the parts of a client. */
export function assemble({ token, ...others }: Complete): Assembly {
  const settings = bare<Assembly["settings"]>(others);
  const { baseUrl } = settings;
  checkTransport(baseUrl, settings.allowInsecureHttp);
  const pipeline: Pipeline = {
    ...settings,
    baseUrl: baseUrl.href.replace(/\/+$/, ""),
    host: baseUrl.host,
    http: createHttp(settings.fetch, settings.fetchOptions),
    tokenSource: sourceOf(token, baseUrl, (id, own) => rotateItself(pipeline, id, own)),
    rateLimiter: settings.rateLimiter ?? memoryRateLimiter(),
    instrumentation: instrumentationOf(settings),
    notices: { paused: new Set(), deprecated: new Set() },
  };
  return { settings, pipeline };
}

/** The settings of a client that is derived from another: without a token of its own it shares token source and limiter. */
export function derivedSettings({ settings, pipeline }: Assembly, options: ClientOptions): Settings {
  const derived = checkOptions(options, settings);
  if (derived.token !== undefined) return derived;
  if (derived.baseUrl?.origin !== settings.baseUrl.origin) {
    refuse("withOptions: a baseUrl of another origin needs a token of its own");
  }
  const { tokenSource, rateLimiter } = pipeline;
  return { ...derived, token: { createSource: () => tokenSource }, rateLimiter: derived.rateLimiter ?? rateLimiter };
}

function sourceOf(token: Complete["token"], { origin }: URL, rotate: Rotate): TokenSource {
  if (typeof token === "string") return new StaticToken(token);
  return typeof token === "function" ? new ProviderToken(token) : token.createSource(rotate, origin);
}

function instrumentationOf({ onEvent, logger, logLevel, instrumentation }: Settings): Instrumentation | undefined {
  const level = logLevel ?? environmentLogLevel();
  const log = logger === undefined ? level && logCalls(standardErrorLogger, level) : logCalls(logger, level ?? "warn");
  return combine([onEvent && { begin: () => ({ event: onEvent }) }, log, instrumentation]);
}

function environmentLogLevel(): LogLevel | undefined {
  const level = fromEnvironment("PROJECT_AUTOMATION_LOG");
  const known = LOG_LEVELS.find((one) => one === level);
  if (level !== undefined && known === undefined) {
    refuse(`PROJECT_AUTOMATION_LOG in the environment must be one of ${LOG_LEVELS.join(", ")}`);
  }
  return known;
}

// The calls that wait for it hold permits of the client's rate limiter, so it must not wait in the same queue.
function rotateItself(pipeline: Pipeline, id: string, token: string): Promise<CreatedToken> {
  const own = { ...pipeline, tokenSource: new StaticToken(token), rateLimiter: memoryRateLimiter() };
  return createSend(own)("tokens.rotate", () => ({ ...rotation(id, true), options: {} }));
}
