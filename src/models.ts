/**
 * What the service sends, field for field (contract, section 2). Wire names are kept. Fields that the contract does not
 * show are kept at run time. An application that reads one declares it:
 *
 * ```ts
 * declare module "project-automation" {
 *   interface Project {
 *     team?: string;
 *   }
 * }
 * ```
 */

/** A project. */
export interface Project {
  /** Addresses the project in paths, for good. */
  id: string;
  /** Addresses it in paths as well. */
  name: string;
}

/** The type of an issue; the contract shows `bug`, and any other string is passed through. */
export type IssueType = "bug" | (string & {});

/** An issue of a project. */
export interface Issue {
  /** The issue's number within its project. */
  number: number;
  /** As it was given. */
  title: string;
  /** The contract does not list its values. */
  status: string;
  /** As it was given, where the service tells it. */
  type?: IssueType | undefined;
}

/** An agent session of a project. The contract does not list the values of `state`. */
export interface Session {
  /** Addresses the session in paths. */
  id: string;
  /** Where it stands. Any string: say yourself which ones mean the end. */
  state: string;
}

/** The masked record of an API token: everything but the secret. */
export interface Token {
  /** The record's identifier, for `tokens.rotate` and `tokens.revoke`; no secret. */
  id: string;
  /** The label chosen at creation. */
  name: string;
  /** The public part of the token, its middle segment. */
  key_id: string;
  /** Each of the form `<resource>:<action>`. */
  scopes: string[];
  /** ISO 8601 UTC timestamp, as it came. */
  expires_at: string;
}

/** The answer to a token's creation or rotation: the only place where the secret is ever shown. Store `plaintext` now. */
export interface CreatedToken extends Token {
  /** The full token. The service never shows it again. */
  plaintext: string;
}

/** One page of a list, as the service sends it. */
export interface Page<Item> {
  /** The items. May be fewer than asked for, or none, with more to come. */
  data: Item[];
  /** The cursor of the next page; `null` on the last one. */
  next_cursor: string | null;
}
