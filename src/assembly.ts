import { ProviderToken } from "./auth/provider-token.ts";
import { StaticToken } from "./auth/static-token.ts";
import type { Rotate, TokenSource, TokenSourceFactory } from "./auth/token-source.ts";
import { bare, refuse } from "./base/check.ts";
import { combine, type Instrumentation } from "./instrumentation.ts";
import { LOG_LEVELS, type LogLevel, logCalls, standardErrorLogger } from "./logging.ts";
import type { CreatedToken } from "./models.ts";
import { fromEnvironment, type Settings } from "./options.ts";
import { memoryRateLimiter } from "./rate-limit/memory-rate-limiter.ts";
import type { Pipeline } from "./request/call.ts";
import { createHttp } from "./request/http.ts";
import { createSend } from "./request/send.ts";
import { checkTransport } from "./request/url.ts";
import { rotation } from "./resources/tokens.ts";

/** What a client is made of, and what another can be derived from. */
export interface Assembly {
  /** With the token source in place of the token: it alone holds it, and a copy here would stay when it is swapped. */
  readonly settings: Settings;
  readonly pipeline: Pipeline;
}

/** Makes the parts of a client. Clients that are derived from it share token source and rate limiter. */
export function assemble(given: Settings): Assembly {
  const url = new URL(given.baseUrl);
  checkTransport(url, given.allowInsecureHttp);
  const tokenSource = sourceOf(given.token, url, (id, own) => rotateItself(pipeline, id, own));
  const token: TokenSourceFactory = {
    createSource: (_, origin) =>
      origin === url.origin ? tokenSource : refuse("withOptions: a baseUrl of another origin needs a token of its own"),
  };
  const rateLimiter = given.rateLimiter ?? memoryRateLimiter();
  const settings = bare<Settings>(given, { token, rateLimiter });
  const { timeoutMs, totalTimeoutMs, retry, headers } = settings;
  const pipeline = bare<Pipeline>({
    ...settings,
    rateLimiter,
    defaults: bare({ timeoutMs, totalTimeoutMs, retry, headers }),
    host: url.host,
    http: createHttp(settings.fetch, settings.fetchOptions),
    tokenSource,
    instrumentation: instrumentationOf(settings),
    notices: { paused: new Set(), deprecated: new Set() },
  });
  return { settings, pipeline };
}

function sourceOf(token: Settings["token"], { origin }: URL, rotate: Rotate): TokenSource {
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
  const own = bare<Pipeline>(pipeline, { tokenSource: new StaticToken(token), rateLimiter: memoryRateLimiter() });
  return createSend(own)("tokens.rotate", () => ({ ...rotation(id, true), options: {} }));
}
