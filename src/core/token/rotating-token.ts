import { ignoreErrors } from "../checks/ignore-errors.ts";
import { withCallerStack } from "../errors/caller-stack.ts";
import { ConfigError } from "../errors/classes.ts";
import { type LivingToken, livingToken, type RunInContext, type Terms } from "./living-token.ts";
import { parseRotatingTokenOptions, type RotatingTokenOptions } from "./rotating-token-options.ts";
import type { RotatedToken, StoredToken } from "./token-format.ts";
import { type Rotate, type TokenSource, type TokenSourceFactory, TokenUnavailable } from "./token-source.ts";

/** A token that rotates itself. Pass it as `token` to one client, or to several of one service. */
export interface RotatingToken extends TokenSourceFactory {
  /**
   * The latest token, secret included, in the shape that `rotatingToken` takes: the whole record, as it was passed or as
   * the service sent it. Store this if `onRotated` has failed.
   */
  latest(): RotatedToken;
  /**
   * Resolves when no rotation is under way and no replacement is being stored. Never rejects. Await it before a process
   * ends or a function is frozen; in a Worker: `waitUntil(token.settled())`.
   */
  settled(): Promise<void>;
}

/**
 * Creates a token that rotates itself: a call that begins within `renewBeforeMs` of its expiry sends a rotation first, and
 * settles after the replacement is stored, whatever its own limits say. Other calls do not wait: they are sent with the old
 * token, and one that is answered 401 then waits for the replacement. No timer runs between calls.
 *
 * There are at least ten minutes between two rotations, and half a day if `expires_at` is of no use: because it has
 * passed by the local clock, which must then be wrong, or because the service has not extended it. A rotation that fails
 * is tried again a minute later at the earliest; one that gets no response ends with the client's `timeoutMs` (30 s where
 * that is `false`).
 *
 * It rotates and stores in the `AsyncLocalStorage` context of this call, where the platform has one. Calls go on with the old
 * token until the service answers 401 to one of them, whatever the local clock says.
 *
 * Rotating tokens of one `plaintext` at one service share its rotations in the process, as where a framework loads a module
 * twice. The one whose call begins a rotation stores the replacement.
 *
 * @throws `ConfigError` if an option is invalid, or if `plaintext` and `key_id` of the record do not belong together.
 *
 * @example
 * const token = rotatingToken({
 *   token: { id: "tok_1", plaintext: "pat_key_secret", expires_at: "2030-01-01T00:00:00Z" }, // as stored
 *   onRotated: (replacement) => store(replacement.id, JSON.stringify(replacement)),
 * });
 * const client = new Client({ baseUrl: "https://automation.example.com/api/v1", token });
 */
export function rotatingToken(options: RotatingTokenOptions): RotatingToken {
  return withCallerStack(rotatingToken, () => new SelfRotatingToken(parseRotatingTokenOptions(options)));
}

const DAY_MS = 24 * 60 * 60 * 1000;

class SelfRotatingToken implements RotatingToken {
  readonly #stored: StoredToken;
  readonly #terms: Terms;
  /** At the service of the first call; before that, of the latest client. */
  #living: LivingToken | undefined;
  /** A call was made: the token is for that service alone. */
  #isBound = false;

  constructor({ token, renewBeforeMs = DAY_MS, ...others }: ReturnType<typeof parseRotatingTokenOptions>) {
    this.#stored = token;
    this.#terms = { ...others, renewBeforeMs, inOwnContext: keepContext() };
  }

  latest(): RotatedToken {
    return { ...(this.#living?.latest ?? this.#stored) };
  }

  async settled(): Promise<void> {
    await this.#living?.settled();
  }

  createSource(rotate: Rotate, service: string): TokenSource {
    const problem = (): string | undefined => {
      const own = this.#living?.service;
      if (!this.#isBound || own === service) return undefined;
      return `token: this rotatingToken() belongs to ${own}, and would travel to ${service}: create one for each`;
    };
    const early = problem();
    if (early !== undefined) throw new ConfigError(early, { outcome: "not_sent" });
    const living = this.#living?.service === service ? this.#living : livingToken(service, this.#stored);
    const terms = { ...this.#terms, rotate };
    this.#living = living;
    return {
      isHeld: true,
      get current(): string {
        return living.current;
      },
      tokenFor: async (request) => {
        const late = problem();
        if (late !== undefined) throw new TokenUnavailable(late);
        this.#living = living;
        this.#isBound = true;
        return await living.tokenFor(request, terms);
      },
      isCurrent: (token) => living.isCurrent(token),
      subscribe: (listener) => living.subscribe(listener),
    };
  }
}

interface Contexts {
  readonly process?: {
    getBuiltinModule?(name: "async_hooks"): { readonly AsyncLocalStorage: { snapshot(): RunInContext } };
  };
}

/**
 * Keeps the present `AsyncLocalStorage` context for work that is shared: what it stores must not belong to the transaction of
 * the call that happened to begin it. A platform without contexts runs the work as it is, and so does a Worker, which keeps
 * the context of one request from the others.
 */
function keepContext(): RunInContext {
  const { process: platform } = globalThis as Contexts;
  const snapshot = ignoreErrors(() => platform?.getBuiltinModule?.("async_hooks").AsyncLocalStorage.snapshot());
  const isOpen = (): boolean | undefined => ignoreErrors(() => snapshot?.(() => true));
  return (work) => (snapshot !== undefined && isOpen() ? snapshot(work) : work());
}
