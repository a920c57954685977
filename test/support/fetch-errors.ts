/** The errors that a platform's `fetch` rejects with. */

/** The error for a failed connection, as Node's `fetch` reports it. */
export function fetchFailed(code: string, more: object = {}): TypeError {
  return new TypeError("fetch failed", { cause: Object.assign(new Error(`it was ${code}`), { code, ...more }) });
}
