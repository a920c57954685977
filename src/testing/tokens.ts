import type { Scope } from "../scopes.ts";
import { impliesScope, SCOPES } from "../scopes.ts";
import { checkStrings } from "./checks.ts";
import type { Identifiers } from "./random.ts";

/** A scope of the contract's table, or any other string: run-time scopes are open. */
export type ScopeName = Scope | (string & {});

/** Somebody who owns tokens. A token never does what its owner may not. */
export interface EmulatorOwner {
  /** What `createToken` takes as `owner`. */
  readonly id: string;
  /** Scopes that they hold; a token does no more. */
  readonly permissions: readonly string[];
}

/** The masked record of a token: everything but the secret. */
export interface EmulatorToken {
  /** The record's identifier. */
  readonly id: string;
  /** The label chosen at creation. */
  readonly name: string;
  /** The public part of the token, its middle segment. */
  readonly key_id: string;
  /** As they were given, repeated ones too. */
  readonly scopes: readonly string[];
  /** ISO 8601 UTC timestamp. */
  readonly expires_at: string;
  /** The id of its owner. */
  readonly owner: string;
  /** What became of it, by the emulator's clock. */
  readonly state: "active" | "revoked" | "expired";
}

/** A token as its creation returns it: the only place where the emulator shows `plaintext`. */
export interface CreatedEmulatorToken extends EmulatorToken {
  /** The full token. */
  readonly plaintext: string;
}

/** A token as the inside of the emulator holds it. */
export interface TokenRow {
  readonly id: string;
  readonly name: string;
  readonly keyId: string;
  readonly scopes: readonly string[];
  readonly owner: string;
  readonly createdAt: number;
  readonly expiresAt: number;
  revoked: boolean;
}

/** What a token is made of. */
export interface TokenSpec {
  readonly name: string;
  readonly scopes: readonly string[];
  readonly owner: string;
  readonly lifetimeMs: number;
}

/** The owner of `emulator.token`, who is there from the start. */
export const DEFAULT_OWNER = "owner";

/** The owners and tokens of one emulator. Knows no HTTP; every time is an argument. */
export class Tokens {
  readonly #ids: Identifiers;
  readonly #prefix: string;
  readonly #owners = new Map<string, EmulatorOwner>();
  readonly #rows = new Map<string, TokenRow>();
  readonly #byPlaintext = new Map<string, TokenRow>();

  constructor(ids: Identifiers, prefix: string) {
    this.#ids = ids;
    this.#prefix = prefix;
  }

  owners(): EmulatorOwner[] {
    return [...this.#owners.values()];
  }

  findOwner(id: string): EmulatorOwner | undefined {
    return this.#owners.get(id);
  }

  /** Every permission of the contract's table, unless told otherwise. */
  createOwner(id: string = `own_${this.#ids.next(12)}`, permissions: readonly string[] = SCOPES): EmulatorOwner {
    if (this.#owners.has(id)) throw new TypeError(`there is an owner with the id "${id}" already`);
    return this.#putOwner(id, permissions);
  }

  setPermissions(owner: string, permissions: readonly string[]): EmulatorOwner {
    this.#owner(owner);
    return this.#putOwner(owner, permissions);
  }

  tokens(): TokenRow[] {
    return [...this.#rows.values()];
  }

  find(id: string): TokenRow | undefined {
    return this.#rows.get(id);
  }

  findByPlaintext(plaintext: string): TokenRow | undefined {
    return this.#byPlaintext.get(plaintext);
  }

  /** Mints a token; the only moment at which its plaintext is handed out. */
  create(spec: TokenSpec, now: number): { row: TokenRow; plaintext: string } {
    this.#owner(spec.owner);
    const row: TokenRow = {
      id: `tok_${this.#ids.next(12)}`,
      name: spec.name,
      keyId: this.#ids.next(16),
      scopes: Object.freeze([...spec.scopes]),
      owner: spec.owner,
      createdAt: now,
      expiresAt: now + spec.lifetimeMs,
      revoked: false,
    };
    const plaintext = `${this.#prefix}_${row.keyId}_${this.#ids.characters(32)}`;
    this.#rows.set(row.id, row);
    this.#byPlaintext.set(plaintext, row);
    return { row, plaintext };
  }

  /** Revokes `row` and mints its replacement: same name, scopes and owner, and a lifetime of the same length. */
  rotate(row: TokenRow, now: number): { row: TokenRow; plaintext: string } {
    row.revoked = true;
    return this.create({ ...row, lifetimeMs: row.expiresAt - row.createdAt }, now);
  }

  /** Secret scanning: revokes each token that stands in `text` with its prefix, and tells which. */
  leak(text: string): TokenRow[] {
    const found = [...this.#byPlaintext].filter(([plaintext, row]) => !row.revoked && text.includes(plaintext));
    for (const [, row] of found) row.revoked = true;
    return found.map(([, row]) => row);
  }

  stateOf(row: TokenRow, now: number): EmulatorToken["state"] {
    if (row.revoked) return "revoked";
    return now >= row.expiresAt ? "expired" : "active";
  }

  /** Whether the token and its owner both allow `scope`. */
  allows(row: TokenRow, scope: string): boolean {
    return this.missing(row, [scope]).length === 0;
  }

  /** The scopes of `wanted` that the token does not hold or its owner may not use. */
  missing(row: TokenRow, wanted: readonly string[]): string[] {
    const permissions = this.#owner(row.owner).permissions;
    return wanted.filter((want) => !holds(row.scopes, want) || !holds(permissions, want));
  }

  #owner(id: string): EmulatorOwner {
    const owner = this.#owners.get(id);
    if (owner === undefined) throw new TypeError(`there is no owner with the id "${id}"`);
    return owner;
  }

  #putOwner(id: string, permissions: readonly string[]): EmulatorOwner {
    const owner = Object.freeze({ id, permissions: Object.freeze(checkStrings("permissions", permissions)) });
    this.#owners.set(id, owner);
    return owner;
  }
}

/** The masked record of a row. */
export function maskedToken(row: TokenRow, state: EmulatorToken["state"]): EmulatorToken {
  const { id, name, keyId, scopes, expiresAt, owner } = row;
  return { id, name, key_id: keyId, scopes, expires_at: new Date(expiresAt).toISOString(), owner, state };
}

/** Whether rotating `target` would hand the caller a more powerful token than its own. */
export function wouldEscalate(caller: TokenRow, target: TokenRow): boolean {
  return target.scopes.some((scope) => !holds(caller.scopes, scope));
}

function holds(held: readonly string[], wanted: string): boolean {
  return held.some((have) => have === wanted || impliesScope(have, wanted));
}
