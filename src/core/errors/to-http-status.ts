import { type AnyAutomationError, isAutomationError } from "./classes.ts";

/** Options of `toHttpStatus`. */
export interface HttpStatusOptions {
  /**
   * The token of the call was the visitor's own, so a 401 is for the visitor.
   *
   * @default false
   */
  readonly visitorToken?: boolean | undefined;
}

const STATUSES: Readonly<Record<AnyAutomationError["kind"], number>> = {
  argument: 400,
  bad_request: 400,
  permission: 403,
  not_found: 404,
  conflict: 409,
  rate_limit: 429,
  abort: 499,
  config: 500,
  auth: 500,
  token_provider: 500,
  journal: 500,
  bulk: 500,
  send: 500,
  api: 502,
  server: 502,
  redirect: 502,
  connection: 502,
  parse: 502,
  validation: 502,
  pagination: 502,
  timeout: 504,
};

/**
 * The HTTP status that a server answers its own visitor with, when a call of this library has failed for it. What the
 * visitor sent is 400, 403, 404 or 409; a rate limit is 429, for which `error.retryAfterMs` says when to come back. A
 * failure of the service is 502, a time limit 504, and a mistake of the server itself, such as its token, 500. A call that was
 * aborted is 499. Anything but an error of this library is 500. Never throws.
 *
 * @param error whatever was thrown
 * @example
 * const answer = await client.projects.list().page().then(
 *   (page) => Response.json(page),
 *   (error: unknown) => Response.json({ error: "failed" }, { status: toHttpStatus(error) }),
 * );
 */
export function toHttpStatus(error: unknown, options: HttpStatusOptions = {}): number {
  if (!isAutomationError(error)) return 500;
  if (error.kind === "auth" && options.visitorToken === true) return 401;
  return STATUSES[error.kind] ?? 500; // a later copy of the package may have other kinds
}
