import { createHttp, platformMayRepeat } from "../core/call/http.ts";
import { redactorOf } from "../core/call/internals.ts";
import { Send } from "../core/call/send.ts";
import type { ClientContext } from "../core/call/settings.ts";
import { invalid } from "../core/checks/invalid-input.ts";
import { unbreakable } from "../core/checks/validators.ts";
import { explain } from "../core/errors/explanation.ts";
import { combine, createRunHook, type InnerInstrumentation } from "../core/instrumentation.ts";
import { StaticToken } from "../core/token/static-token.ts";
import type { TokenSourceFactory } from "../core/token/token-source.ts";
import { isSafeTransport } from "../core/wire/base-url.ts";
import type { CreatedToken } from "../service/models.ts";
import { rotation } from "../service/rotation.ts";
import { type ClientSettings, checkStaticToken, configuring, settingsOf } from "./client-settings.ts";
import { createLog } from "./logging.ts";
import type { ClientOptions } from "./options.ts";
import { VERSION } from "./version.ts";

/** The parts of a client. Derived clients share token source and rate limiter; instrumented ones also what is emitted once. */
export class Assembly {
  readonly context: ClientContext;
  /** With the token source in place of the token: it alone holds it, and a copy here would stay when it is swapped. */
  readonly #settings: ClientSettings;

  private constructor(settings: ClientSettings, context: ClientContext) {
    this.#settings = settings;
    this.context = context;
  }

  /**
   * Makes the parts from the options of a constructor.
   *
   * @throws `ConfigError` if an option is invalid
   */
  static of(options: ClientOptions | undefined): Assembly {
    return configuring(options, () => Assembly.#from(settingsOf(options)));
  }

  static #from(given: ClientSettings, parent?: ClientContext): Assembly {
    const { baseUrl, allowInsecureHttp, fetchOptions, onEvent, logger, logLevel, instrumentation } = given;
    if (!isSafeTransport(baseUrl, allowInsecureHttp)) {
      invalid(
        "baseUrl is plain http: to another machine, where others can read the token; use https:, or allowInsecureHttp",
      );
    }
    // A rotation is sent by the client that is made of the context below.
    const tokenSource = given.token.createSource((stored) => rotateItself(context, stored), baseUrl);
    /** For derived clients: they get the same source. */
    const token: TokenSourceFactory = { createSource: () => tokenSource };
    const settings: ClientSettings = { ...given, token };
    const log = createLog(logger, logLevel);
    const runHook = createRunHook((hook, call, error) => {
      return log?.hookFailed(hook, call, redactorOf(context).short(explain(error).why) ?? "");
    });
    const context: ClientContext = {
      ...settings,
      http: createHttp(`project-automation/${VERSION}`, fetchOptions),
      platformMayRepeat: platformMayRepeat(fetchOptions),
      tokenSource,
      observers: combine([
        onEvent && { begin: (call) => ({ event: (event) => runHook("onEvent", call, () => onEvent(event)) }) },
        log?.calls,
        instrumentation,
      ]),
      runHook,
      say: log && unbreakable(log.say),
      inner: parent?.inner,
      emittedOnce: { paused: new Map(), deprecated: new Set() },
    };
    return new Assembly(settings, context);
  }

  /** The parts of a client with some options changed. */
  withOptions(options: ClientOptions): Assembly {
    return configuring(options, () => Assembly.#from(settingsOf(options, this.#settings), this.context));
  }

  /** The same parts, with an instrumentation of another part of the package. */
  instrumented(inner: InnerInstrumentation): Assembly {
    return new Assembly(this.#settings, { ...this.context, inner });
  }

  /**
   * Swaps the token.
   *
   * @throws `ConfigError` if the token is invalid, or is not the client's to swap
   */
  setToken(token: string): void {
    const { tokenSource } = this.context;
    configuring({ token }, () => {
      if (!(tokenSource instanceof StaticToken)) {
        invalid("setToken: the token provider or the rotating token of this client decides the token");
      }
      tokenSource.set(checkStaticToken(token));
    });
  }
}

/** The time limit of a rotation's request where the client has none, and of the whole rotation. */
const ROTATION_TIMEOUT_MS = 30_000;
const LONGEST_ROTATION_MS = 4 * 60_000;

/** Sends the rotation of a rotating token: a call like any other, with that token itself, and with limits of its own. */
function rotateItself(
  client: ClientContext,
  { id, plaintext }: Pick<CreatedToken, "id" | "plaintext">,
): Promise<CreatedToken> {
  const own: ClientContext = {
    ...client,
    tokenSource: new StaticToken(plaintext),
    // A rotation is tried again later, so no pause is waited for.
    retry: client.retry && { ...client.retry, rateLimitWaits: 0 },
    timeoutMs: Number.isFinite(client.timeoutMs) ? client.timeoutMs : ROTATION_TIMEOUT_MS,
    totalTimeoutMs: LONGEST_ROTATION_MS,
    inner: undefined,
  };
  const sent = new Send(own).call("tokens.rotate", () => ({ ...rotation(id, true), options: {} }));
  return sent.then(({ data }) => data);
}
