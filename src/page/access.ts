export interface Visit {
  readonly remoteAddress: string | undefined;
  readonly host: string | undefined;
  /** The header `Sec-Fetch-Site`, by which a browser says whose page asks. */
  readonly site: string | undefined;
}

/** Whom the page is for, beside programs of this machine. */
export interface Audience {
  readonly addresses: readonly string[];
  readonly acceptsHost: (host: string | undefined) => boolean;
}

/** The first part of a visit that the page is not for. */
export type Problem = "address" | "host" | "site";

/**
 * The problem of a visit; `undefined` if the page may be shown. The sender chooses the `Host`, so it says nothing of where a
 * request comes from; it keeps out pages that reach this machine by a name of their own.
 */
export function problemOf(
  { remoteAddress, host, site }: Visit,
  { addresses, acceptsHost }: Audience,
): Problem | undefined {
  const from = plain(remoteAddress ?? "");
  if (!isLoopbackAddress(from) && !addresses.some((address) => plain(address) === from)) return "address";
  if (!acceptsHost(host)) return "host";
  return site === undefined || site === "same-origin" || site === "none" ? undefined : "site";
}

function isLoopbackAddress(address: string): boolean {
  return /^127(?:\.\d{1,3}){3}$/.test(address) || address === "::1";
}

/** An address in one spelling: IPv4 over a socket of IPv6 is IPv4, and an address has no zone. */
function plain(address: string): string {
  return address
    .toLowerCase()
    .replace(/^::ffff:(?=\d+\.)/, "")
    .replace(/%.*$/, "");
}
