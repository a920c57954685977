import { type ApiPromise, apiPromise } from "../core/call/api-promise.ts";
import type { CallOptions } from "../core/call/call-options.ts";
import type { Send } from "../core/call/send.ts";
import { parseCallOptions } from "../core/call/settings.ts";
import { closestName, namesOf } from "../core/checks/hints.ts";
import { arrayOf, BOOLEAN, numbers, parseOptions, required, type Shape, STRING } from "../core/checks/validators.ts";
import { pathOf } from "../core/wire/path.ts";
import type { CreatedToken } from "./models.ts";
import { rotation } from "./rotation.ts";
import { createdTokenValidator } from "./schemas/validators.ts";
import { isScope, SCOPES, type Scope } from "./scopes.ts";

/** A new token. */
export interface TokenCreateInput {
  /** A label, to find it again in the account settings. */
  name: string;
  /**
   * Its permissions: only scopes that your own token holds. A token with `[]` can do nothing. `isScope` narrows
   * strings from elsewhere: `names.filter(isScope)`.
   */
  scopes: readonly Scope[];
  /** Days until it expires, a safe integer. Without it the service decides. */
  expires_in_days?: number | undefined;
}

/** The last argument of `tokens.rotate`. */
export interface RotateOptions extends CallOptions {
  /**
   * Rotates the client's own token: the client uses the replacement at once.
   *
   * @default false
   */
  adopt?: boolean | undefined;
}

/**
 * API tokens of the user: `client.tokens`. Methods work detached, and reject with errors of this package alone; invalid
 * arguments are an `ArgumentError`, before anything is sent.
 */
export class Tokens {
  readonly #send: Send;

  /**
   * Creates a token: `POST /me/tokens`. Its `plaintext` is in this response and never again: store it before anything
   * else. The request is sent again only if the service has certainly not processed it. If the response is invalid, the
   * error's `rawBody` still has the text.
   *
   * @param input the token; other fields are refused: pass them in `json` of `options.extra`
   * @param options options of this call
   * @returns the token's record with its `plaintext`
   * @example
   * const { id, plaintext } = await client.tokens.create({ name: "ci", scopes: ["issues:write"], expires_in_days: 30 });
   */
  create: (input: TokenCreateInput, options?: CallOptions) => ApiPromise<CreatedToken>;

  /**
   * Replaces a token by one with the same scopes and revokes it in the same step: `POST /me/tokens/{id}/rotate`. The
   * replacement has an `id` and a `plaintext` of its own: store both. The request is never sent twice if the first may
   * have been applied; `outcome` is then `"unknown"`, and the old token may be dead.
   *
   * With `adopt: true`, for the client's own token, the client goes on with the replacement: calls that are refused
   * meanwhile wait for it and are sent once more. With a token provider, `adopt` is an `ArgumentError`.
   *
   * @param id the `id` of the token's record, not the token itself
   * @param options options of this call, and `adopt`
   * @returns the replacement's record with its `plaintext`
   * @example
   * const next = await client.tokens.rotate(id, { adopt: true });
   */
  rotate: (id: string, options?: RotateOptions) => ApiPromise<CreatedToken> = (id, given) =>
    apiPromise(this.rotate, async () => {
      const { adopt = false, ...options } = this.#send.parse("tokens.rotate", () =>
        parseCallOptions(given, ROTATE_OPTIONS),
      );
      const rotate = () => this.#send.call("tokens.rotate", () => ({ ...rotation(id, adopt), options }));
      return adopt ? await this.#send.adopt(rotate) : await rotate();
    });

  /**
   * Revokes a token at once: `DELETE /me/tokens/{id}`. The request is sent again after failures that may pass, since
   * revoking twice does no harm. A 404 or 401 after such a failure has the outcome `unknown` and `priorAmbiguous: true`: the
   * first request may have succeeded. Browsers and workerd may send it again unseen, so there each refusal has them.
   *
   * @param id the `id` of the token's record, not the token itself
   * @param options options of this call
   * @example
   * await client.tokens.revoke(id);
   */
  revoke: (id: string, options?: CallOptions) => ApiPromise<void>;

  /** @internal The client makes it. */
  constructor(send: Send) {
    this.#send = send;
    this.create = send.method("tokens.create", (input, options) => {
      const json = parseOptions(input, "input", CREATE_INPUT);
      return {
        method: "POST",
        path: pathOf("/me/tokens"),
        json,
        fields: Object.keys(CREATE_INPUT),
        schema: createdTokenValidator,
        adviceOn403: (detail) => adviceOnScopes(json.scopes ?? [], detail),
        options: parseCallOptions(options),
      };
    });
    this.revoke = send.method("tokens.revoke", (id, options) => ({
      method: "DELETE",
      path: pathOf("/me/tokens/{id}", { id }),
      expects: "nothing",
      fields: [],
      options: parseCallOptions(options),
    }));
  }
}

const CREATE_INPUT = {
  name: required(STRING),
  scopes: arrayOf(STRING, 'an array of scopes, such as ["issues:write"]'),
  expires_in_days: numbers("a safe integer", Number.isSafeInteger),
} satisfies Shape<TokenCreateInput>;

const ROTATE_OPTIONS = namesOf("call", { adopt: BOOLEAN });

/** Advice on a 403 to the creation of a token: scopes that are not among the documented ones, with those that may be meant. */
function adviceOnScopes(scopes: readonly string[], detail: string | undefined): string | undefined {
  const unknown = scopes.filter((scope) => !isScope(scope));
  if (unknown.length === 0)
    return detail === undefined ? "a token can have only scopes that its creator holds" : undefined;
  const meant = unknown.flatMap((scope) => closestName(scope, SCOPES) ?? []);
  const hint = meant.length > 0 ? `; did you mean ${meant.map((scope) => `"${scope}"`).join(", ")}?` : "";
  return `not in SCOPES: ${unknown.map((scope) => `"${scope}"`).join(", ")}${hint}`;
}
