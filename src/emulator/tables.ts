import type { Issue, Project, Session, Token } from "../service/models.ts";
import type { Scope } from "../service/scopes.ts";

/** A scope of the API documentation's table, or any other string: run-time scopes are open. */
export type ScopeName = Scope | (string & {});

/** Optional fields that accept `undefined`, too. */
type Optional<Fields> = { readonly [Key in keyof Fields]?: Fields[Key] | undefined };

/** A project as the emulator holds it. */
export type EmulatorProject = Readonly<Pick<Project, "id" | "name">>;

/** An issue as the emulator holds it; `number` counts from 1 in each project. */
export interface EmulatorIssue extends Readonly<Pick<Issue, "number" | "title" | "status">> {
  /** As it was passed. */
  readonly type: string;
}

/** A session as the emulator holds it. */
export interface EmulatorSession extends Readonly<Pick<Session, "id" | "state">> {
  /** The id of its project. */
  readonly project: string;
  /** The states that it goes through by itself: each `GET` returns its state, and then moves it on to the next. */
  readonly states: readonly string[];
}

/** A project to create. Defaults: a fresh id, and a name that counts up (`project-1`, `project-2` …). */
export type ProjectInput = Optional<EmulatorProject>;

/**
 * A session to create. Defaults: a fresh id, the `states` of the option `sessionStates`, and as `state` the
 * first of its `states`, else `conventions.sessionState`.
 */
export type SessionInput = Optional<Pick<EmulatorSession, "id" | "state" | "states">>;

/** An issue to create. The default of `status` is `conventions.issueStatus`. */
export type IssueInput = Pick<EmulatorIssue, "title" | "type"> & Optional<Pick<EmulatorIssue, "status">>;

/** The change of the issue with this number. */
export type IssueChange = Pick<EmulatorIssue, "number"> & Optional<Pick<EmulatorIssue, "title" | "type" | "status">>;

/** An owner of tokens. A token never does what its owner may not. */
export interface EmulatorOwner {
  /** The id of the owner, for `createToken({ owner })`. */
  readonly id: string;
  /** The scopes that the owner holds. */
  readonly permissions: readonly string[];
}

/** An owner to create. Defaults: a fresh id, and every permission. */
export type OwnerInput = Optional<EmulatorOwner>;

/** The masked record of a token: everything but the secret. */
export interface EmulatorToken extends Readonly<Pick<Token, "id" | "name" | "key_id" | "expires_at">> {
  /** In the order they were passed, repeated ones too. */
  readonly scopes: readonly string[];
  /** The id of its owner. */
  readonly owner: string;
  /** By the emulator's clock. */
  readonly state: "active" | "revoked" | "expired";
}

/** A token as its creation returns it: the only place where the emulator shows `plaintext`. */
export interface CreatedEmulatorToken extends EmulatorToken {
  /** The full token. */
  readonly plaintext: string;
}

/** A token to create, for `createToken`. */
export interface TokenInput {
  /** Any strings: they are not checked against any owner's or token's. */
  readonly scopes: readonly ScopeName[];
  /** @default "test" */
  readonly name?: string | undefined;
  /** @default `conventions.tokenLifetimeDays` */
  readonly expires_in_days?: number | undefined;
  /** The id of its owner. @default "owner", the owner of `emulator.token` */
  readonly owner?: string | undefined;
  /** Makes a new owner with exactly these permissions, in place of `owner`. */
  readonly permissions?: readonly ScopeName[] | undefined;
}
