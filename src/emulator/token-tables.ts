import { required, STRING } from "../core/checks/validators.ts";
import { impliesScope, SCOPES } from "../service/scopes.ts";
import { check, integer, TEXT, TEXTS } from "./checks.ts";
import type { MakeId } from "./random.ts";
import type { CreatedEmulatorToken, EmulatorOwner, EmulatorToken, OwnerInput, TokenInput } from "./tables.ts";

export interface TokenRow {
  readonly id: string;
  readonly name: string;
  readonly keyId: string;
  readonly plaintext: string;
  readonly scopes: readonly string[];
  readonly owner: EmulatorOwner["id"];
  readonly createdAt: number;
  readonly expiresAt: number;
  revoked: boolean;
}

type TokenSpec = Pick<TokenRow, "name" | "scopes" | "owner"> & { readonly lifetimeMs: number };

/** The owner of `emulator.token`, which is there from the start. */
export const DEFAULT_OWNER = "owner";

export const DAY_MS: number = 24 * 60 * 60 * 1000;

/** The owners and tokens of one emulator. Knows no HTTP; every time is an argument. */
export class TokenStore {
  readonly owners: Map<string, EmulatorOwner> = new Map();
  readonly rows: Map<string, TokenRow> = new Map();
  readonly byPlaintext: Map<string, TokenRow> = new Map();
  readonly byKeyId: Map<string, TokenRow> = new Map();
  readonly #makeId: MakeId;
  readonly #prefix: string;
  readonly #world: string;

  constructor(makeId: MakeId, { world, prefix }: { readonly world: string; readonly prefix: string }) {
    this.#makeId = makeId;
    this.#prefix = prefix;
    this.#world = world;
  }

  createOwner(id: string = `own_${this.#makeId(12)}`, permissions: readonly string[] = SCOPES): EmulatorOwner {
    if (this.owners.has(id)) check.fail(`there is an owner with the id "${id}" already`);
    return this.putOwner(id, permissions);
  }

  putOwner(id: string, permissions: readonly string[]): EmulatorOwner {
    const owner = Object.freeze({ id, permissions: Object.freeze([...permissions]) });
    this.owners.set(id, owner);
    return owner;
  }

  create(spec: TokenSpec, now: number): TokenRow {
    const { name, owner, lifetimeMs } = spec;
    const keyId = this.#world + this.#makeId(16).slice(this.#world.length);
    const row: TokenRow = {
      id: `tok_${this.#makeId(12)}`,
      name,
      keyId,
      plaintext: `${this.#prefix}_${keyId}_${this.#makeId(32)}`,
      scopes: Object.freeze([...spec.scopes]),
      owner: this.owner(owner).id,
      createdAt: now,
      expiresAt: now + lifetimeMs,
      revoked: false,
    };
    this.rows.set(row.id, row);
    this.byPlaintext.set(row.plaintext, row);
    this.byKeyId.set(row.keyId, row);
    return row;
  }

  /** Revokes `row` and creates its replacement: same name, scopes and owner, and a lifetime of the same length. */
  rotate(row: TokenRow, now: number): TokenRow {
    row.revoked = true;
    return this.create({ ...row, lifetimeMs: row.expiresAt - row.createdAt }, now);
  }

  /** The scopes of `wanted` that the token does not hold or its owner may not use. */
  missing(row: TokenRow, wanted: readonly string[]): string[] {
    const { permissions } = this.owner(row.owner);
    return wanted.filter((want) => !holds(row.scopes, want) || !holds(permissions, want));
  }

  owner(id: string): EmulatorOwner {
    return this.owners.get(id) ?? check.fail(`there is no owner with the id "${id}"`);
  }
}

export function stateOf(row: TokenRow, now: number): EmulatorToken["state"] {
  if (row.revoked) return "revoked";
  return now >= row.expiresAt ? "expired" : "active";
}

export function maskedToken(row: TokenRow, now: number): EmulatorToken {
  const { id, name, keyId, scopes, owner } = row;
  const expires_at = new Date(row.expiresAt).toISOString();
  return { id, name, key_id: keyId, scopes, expires_at, owner, state: stateOf(row, now) };
}

/** True if one of the scopes `held` is, or implies, the scope `wanted`. */
export function holds(held: readonly string[], wanted: string): boolean {
  return held.some((have) => have === wanted || impliesScope(have, wanted));
}

export interface TokenSource {
  readonly state: () => { readonly tokens: TokenStore };
  readonly now: () => number;
  readonly lifetimeDays: number;
}

/** The tokens, as masked records, revoked and expired ones included; `createToken` makes one. */
export class TokenTable {
  readonly #source: TokenSource;

  /** @internal Not for callers: the emulator makes it. */
  constructor(source: TokenSource) {
    this.#source = source;
  }

  /** In the order of creation. */
  readonly list = (): EmulatorToken[] => {
    const { state, now } = this.#source;
    return Array.from(state().tokens.rows.values(), (row) => maskedToken(row, now()));
  };

  /** Returns `undefined` if there is none. */
  readonly get = (id: string): EmulatorToken | undefined => {
    const row = this.#source.state().tokens.rows.get(id);
    return row && maskedToken(row, this.#source.now());
  };
}

/** The owners of tokens. */
export class OwnerTable {
  readonly #state: TokenSource["state"];

  /** @internal Not for callers: the emulator makes it. */
  constructor({ state }: TokenSource) {
    this.#state = state;
  }

  /** In the order of creation. */
  readonly list = (): EmulatorOwner[] => [...this.#state().tokens.owners.values()];

  /** Returns `undefined` if there is none. */
  readonly get = (id: string): EmulatorOwner | undefined => this.#state().tokens.owners.get(id);

  /** With every permission unless `permissions` says otherwise. Throws a `TypeError` if the id is taken. */
  readonly create = (owner?: OwnerInput): EmulatorOwner => {
    const { id, permissions } = check.options(owner, "owner", { id: TEXT, permissions: TEXTS });
    return this.#state().tokens.createOwner(id, permissions);
  };

  /** Takes effect with the next request. */
  readonly update = (id: string, change: Pick<EmulatorOwner, "permissions">): EmulatorOwner => {
    const { permissions } = check.options(change, "owner", { permissions: required(TEXTS) });
    const { tokens } = this.#state();
    return tokens.putOwner(tokens.owner(id).id, permissions);
  };
}

const TOKEN = {
  scopes: required(TEXTS),
  name: TEXT,
  expires_in_days: integer(1, 1_000_000),
  owner: TEXT,
  permissions: TEXTS,
};

export function createToken({ state, now, lifetimeDays }: TokenSource, input: TokenInput): CreatedEmulatorToken {
  const given = check.options(input, "token", TOKEN);
  const { scopes, name = "test", expires_in_days: days = lifetimeDays, permissions } = given;
  if (given.owner !== undefined && permissions !== undefined) {
    check.fail("token: owner and permissions contradict each other");
  }
  const { tokens } = state();
  const owner = permissions ? tokens.createOwner(undefined, permissions).id : (given.owner ?? DEFAULT_OWNER);
  const time = now();
  const row = tokens.create({ name, scopes, owner, lifetimeMs: days * DAY_MS }, time);
  return { ...maskedToken(row, time), plaintext: row.plaintext };
}

export function leak({ state, now }: TokenSource, text: string): EmulatorToken[] {
  check.value(text, "text", STRING);
  const found = [...state().tokens.rows.values()].filter((row) => !row.revoked && text.includes(row.plaintext));
  for (const row of found) row.revoked = true;
  return found.map((row) => maskedToken(row, now()));
}
