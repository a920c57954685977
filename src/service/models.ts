/**
 * The records of the service, field for field (API documentation, section 2). Wire names are kept. Fields that the API documentation does not
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
  /** Identifies the project. It never changes; methods that take a project accept it. */
  id: string;
  /** The name of the project. Methods that take a project accept it, too. */
  name: string;
}

/** The type of an issue; the API documentation shows `bug`, and any other string is passed through. */
export type IssueType = "bug" | (string & {});

/** An issue of a project. */
export interface Issue {
  /** The number of the issue within its project. */
  number: number;
  /** The title that was given at creation. */
  title: string;
  /** The status of the issue. The API documentation does not list the values. */
  status: string;
  /** The type that was given at creation, if the service sends it. */
  type?: IssueType | undefined;
}

/** An agent session of a project. */
export interface Session {
  /** Identifies the session, for `sessions.get`, `sessions.waitFor` and `sessions.watch`. */
  id: string;
  /** The present state. The API documentation does not list the values, so you decide which ones end a wait. */
  state: string;
}

/** The masked record of an API token: everything but the secret. */
export interface Token {
  /** Identifies the record, for `tokens.rotate` and `tokens.revoke`. It is not a secret. */
  id: string;
  /** The label chosen at creation. */
  name: string;
  /** The public part of the token, its middle segment. */
  key_id: string;
  /** Rights of the token: strings of the form `<resource>:<action>`. */
  scopes: string[];
  /** When the token expires: an ISO 8601 timestamp, as the service sent it. */
  expires_at: string;
}

/** The response to the creation or rotation of a token: the only one that shows the secret. Store `plaintext` at once. */
export interface CreatedToken extends Token {
  /** The full token, a secret. The service never shows it again. */
  plaintext: string;
}
