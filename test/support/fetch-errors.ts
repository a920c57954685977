/** The errors that a platform's `fetch` rejects with. */

/** The host of the service that is scripted. */
export const SERVICE_HOST = "automation.example.com";

/** The error for a failed connection, as Node's `fetch` reports it, naming the host that it is about. */
export function fetchFailed(code: string, more: object = {}): TypeError {
  const cause = Object.assign(new Error(`it was ${code}`), { code, hostname: SERVICE_HOST, ...more });
  return new TypeError("fetch failed", { cause });
}
