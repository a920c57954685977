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
  /** The id of the project. Methods that take a project accept it. */
  id: string;
  /** The name of the project. Methods that take a project accept it too. */
  name: string;
}

/** The type of an issue; the API documentation shows `bug`, and any other string is passed through. */
export type IssueType = "bug" | (string & {});

/** An issue of a project. */
export interface Issue {
  /** The number of the issue within its project. */
  number: number;
  /** The title given at creation. */
  title: string;
  /** The status, such as `open`. The API documentation lists no values. */
  status: string;
  /** The type given at creation, if the service sends it. */
  type?: IssueType | undefined;
}

/** An agent session of a project. */
export interface Session {
  /** The id of the session, for `sessions.get`, `sessions.waitFor` and `sessions.watch`. */
  id: string;
  /** The present state. The API documentation lists no values, so you say which ones end a wait. */
  state: string;
}

/** The masked record of an API token: everything but the secret. */
export interface Token {
  /** The id of the record, for `tokens.rotate` and `tokens.revoke`. It is no secret. */
  id: string;
  /** The label chosen at creation. */
  name: string;
  /** The middle segment of the token. It is no secret. */
  key_id: string;
  /** The rights of the token, each as `resource:action`. */
  scopes: string[];
  /** When the token expires, as an ISO 8601 timestamp. */
  expires_at: string;
}

/** The response to the creation or rotation of a token: the only one that shows the secret. Store `plaintext` at once. */
export interface CreatedToken extends Token {
  /** The whole token, a secret. The service never shows it again. */
  plaintext: string;
}
