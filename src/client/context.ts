import { createHttp, platformMayRepeat } from "../core/call/http.ts";
import { redactorOf } from "../core/call/internals.ts";
import { Send } from "../core/call/send.ts";
import type { Context } from "../core/call/settings.ts";
import { problemOfEnvironment } from "../core/checks/globals.ts";
import { invalid } from "../core/checks/invalid-input.ts";
import { safely } from "../core/checks/validators.ts";
import { explain } from "../core/errors/explanation.ts";
import { combine, createRunHook } from "../core/instrumentation.ts";
import { StaticToken } from "../core/token/static-token.ts";
import { parseToken } from "../core/token/token-format.ts";
import { isSafeTransport } from "../core/wire/service.ts";
import type { CreatedToken } from "../service/models.ts";
import { rotation } from "../service/rotation.ts";
import { type ClientSettings, configuring, settingsOf } from "./client-settings.ts";
import { createLog } from "./logging.ts";
import type { ClientOptions } from "./options.ts";
import { VERSION } from "./version.ts";

export interface ClientContext extends ClientSettings, Context {}

/**
 * The context of a client with these options. That of a derived one shares token source and rate limiter with its `parent`.
 *
 * @throws `ConfigError` if an option is invalid
 */
export function contextOf(options: ClientOptions | undefined, parent?: ClientContext): ClientContext {
  return configuring(options, () => {
    const problem = problemOfEnvironment("a Client", "Headers", "Request", "Response");
    return problem === undefined ? assemble(settingsOf(options, parent), parent) : invalid(problem);
  });
}

function assemble(settings: ClientSettings, parent: ClientContext | undefined): ClientContext {
  const { baseUrl, allowInsecureHttp, fetchOptions, onEvent, logger, logLevel, instrumentation } = settings;
  if (!isSafeTransport(baseUrl, allowInsecureHttp)) {
    invalid(
      "baseUrl is plain http: to another machine, where others can read the token; use https:, or allowInsecureHttp",
    );
  }
  // A rotation is sent by the client that is made of the context below.
  const tokenSource = settings.token.createSource((stored) => rotateItself(context, stored), baseUrl);
  const log = createLog(logger, logLevel);
  const runHook = createRunHook((hook, call, error) =>
    log?.hookFailed(hook, call, redactorOf(context).short(explain(error).why) ?? ""),
  );
  const context: ClientContext = {
    ...settings,
    // It alone holds the token: a copy here would stay when it is swapped.
    token: { createSource: () => tokenSource },
    tokenSource,
    http: createHttp(`project-automation/${VERSION}`, fetchOptions),
    platformMayRepeat: platformMayRepeat(fetchOptions),
    observers: combine([
      onEvent && { begin: (call) => ({ event: (event) => runHook("onEvent", call, () => onEvent(event)) }) },
      log?.calls,
      instrumentation,
    ]),
    runHook,
    say: log && safely(log.say),
    inner: parent?.inner,
    emittedOnce: { paused: new Map(), queueWaitAt: Number.NEGATIVE_INFINITY },
  };
  return context;
}

export function swapToken({ tokenSource }: ClientContext, token: string): void {
  configuring({ token }, () => {
    if (!(tokenSource instanceof StaticToken)) {
      invalid("setToken: the token provider or the rotating token of this client decides the token");
    }
    tokenSource.set(parseToken(token));
  });
}

const ROTATION_TIMEOUT_MS = 30_000;
const LONGEST_ROTATION_MS = 4 * 60_000;

/** Sends the rotation of a rotating token: a call like any other, with that token itself, and with limits of its own. */
async function rotateItself(
  client: ClientContext,
  { id, plaintext }: Pick<CreatedToken, "id" | "plaintext">,
): Promise<CreatedToken> {
  const send = new Send({
    ...client,
    tokenSource: new StaticToken(plaintext),
    // A rotation is tried again later, so no pause is waited for.
    retry: client.retry && { ...client.retry, rateLimitWaits: 0 },
    timeoutMs: Number.isFinite(client.timeoutMs) ? client.timeoutMs : ROTATION_TIMEOUT_MS,
    totalTimeoutMs: LONGEST_ROTATION_MS,
    inner: undefined,
  });
  const { data } = await send.call("tokens.rotate", () => ({ ...rotation(id, true), options: {} }));
  return data;
}
