import { argument, BOOLEAN, kind, type Shape } from "../check.ts";
import type { CreatedToken } from "../models.ts";
import { copyOptions } from "../request/call-options.ts";
import type { CallOptions, Operation, Send } from "../request/operation.ts";
import { path } from "../request/path.ts";
import { adoptedTokenValidator, createdTokenValidator, sendableTokenValidator } from "../schemas/record-validators.ts";
import type { Scope } from "../scopes.ts";
import { REQUIRED_STRING, segment } from "./inputs.ts";

/** A new token. */
export interface TokenCreateInput {
  /** A label, to find it again in the account settings. */
  name: string;
  /** What it may do. Only scopes that the caller's own token holds are given; with `[]` it can do nothing. */
  scopes: readonly Scope[];
  /** Days until it expires, a whole number; the service decides without it. */
  expires_in_days?: number | undefined;
}

/** What `tokens.rotate` takes as its last argument. */
export interface RotateOptions extends CallOptions {
  /** The rotated token is the client's own: from the answer on the client uses the replacement. Default `false`. */
  adopt?: boolean | undefined;
}

/** Runs the rotation of the client's own token, and makes its result the client's token. */
export type Adopt = (rotate: () => Promise<CreatedToken>) => Promise<CreatedToken>;

/**
 * API tokens of the caller. Had as `client.tokens`; methods work detached. They reject with errors of this package and
 * nothing else; what is wrong with arguments is an `ArgumentError`, before anything is sent.
 */
export class Tokens {
  readonly #send: Send;
  readonly #adopt: Adopt;

  /** Not for callers: the client makes it. */
  constructor(send: Send, adopt: Adopt) {
    this.#send = send;
    this.#adopt = adopt;
  }

  /**
   * Creates a token: `POST /me/tokens`. Its `plaintext` is shown in this answer and never again: store it before
   * anything else. It is sent again only where the service is known not to have processed it. If the answer cannot be
   * used, the error's `rawBody` still has it.
   *
   * @example
   * const { id, plaintext } = await client.tokens.create({ name: "ci", scopes: ["issues:write"], expires_in_days: 30 });
   */
  create = async (input: TokenCreateInput, options?: CallOptions): Promise<CreatedToken> =>
    this.#send(() => createToken(input), options);

  /**
   * Replaces a token by one with the same scopes and revokes it in the same step: `POST /me/tokens/{id}/rotate`. The
   * replacement has an `id` and a `plaintext` of its own; store both. Never sent twice where the first may have been
   * applied: if that cannot be known, `outcome` is `"unknown"` and the old token may be dead.
   *
   * With `adopt: true`, for the client's own token, the client goes on with the replacement: calls that are refused
   * meanwhile wait for it and are sent once more. With a token provider that is an `ArgumentError`.
   *
   * @example
   * const next = await client.tokens.rotate(id, { adopt: true });
   */
  rotate = async (id: string, options?: RotateOptions): Promise<CreatedToken> => {
    const { adopt = false, ...callOptions } = copyOptions(options, "tokens.rotate: options", { adopt: BOOLEAN });
    const rotate = (): Promise<CreatedToken> => this.#send(() => rotateToken(id, adopt), callOptions);
    return await (adopt ? this.#adopt(rotate) : rotate());
  };

  /**
   * Revokes a token, effective at once: `DELETE /me/tokens/{id}`. Sent again after failures that may pass, since revoking
   * twice does no harm; a 404 or 401 after such a failure has `priorAmbiguous: true`, and may be the echo of a success.
   *
   * @example
   * await client.tokens.revoke(id);
   */
  revoke = async (id: string, options?: CallOptions): Promise<void> => this.#send(() => revokeToken(id), options);
}

const CREATE_INPUT: Shape<TokenCreateInput> = {
  name: REQUIRED_STRING,
  // Array.from shows the holes of an array, which `every` passes over.
  scopes: kind(
    "an array of strings",
    (value) => Array.isArray(value) && Array.from<unknown>(value).every((scope) => typeof scope === "string"),
  ),
  expires_in_days: kind("a whole number", Number.isSafeInteger),
};

function createToken(input: TokenCreateInput): Operation<CreatedToken> {
  const fields = argument.fields(input, "tokens.create: input", CREATE_INPUT);
  return {
    name: "tokens.create",
    method: "POST",
    path: path`/me/tokens`,
    body: JSON.stringify(fields),
    schema: createdTokenValidator,
    answer: "json",
  };
}

/** Rotates the token of an id. `adopt`: the replacement must be one that can be sent. */
export function rotateToken(id: string, adopt: boolean): Operation<CreatedToken> {
  return {
    name: "tokens.rotate",
    method: "POST",
    path: path`/me/tokens/${segment(id, "tokens.rotate: id")}/rotate`,
    schema: adopt ? adoptedTokenValidator : createdTokenValidator,
    essentials: adopt ? sendableTokenValidator : undefined,
    answer: "json",
    rotatesToken: true,
  };
}

function revokeToken(id: string): Operation<void> {
  return {
    name: "tokens.revoke",
    method: "DELETE",
    path: path`/me/tokens/${segment(id, "tokens.revoke: id")}`,
    answer: "none",
  };
}
