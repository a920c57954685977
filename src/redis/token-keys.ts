/** Bytes of the hash that are kept: no two tokens meet, and no token can be computed from it. */
const HASH_BYTES = 16;
/** The format of the values: versions of this package that differ in it share nothing. */
const FORMAT = 1;
const KEYS = ["known", "slots", "queue", "seen"] as const;

/** A limit is one of a token at a service. */
export type TokenAtService = readonly [token: string, service: string];

/**
 * The keys of a token at a service in Redis. They hold hashes keyed by the
 * namespace, never the token itself. The token's hash is in braces, so that a cluster keeps all its keys on one node.
 */
export async function tokenKeys(namespace: string, [token, service]: TokenAtService): Promise<readonly string[]> {
  const encoder = new TextEncoder();
  const hmac = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", encoder.encode(namespace), hmac, false, ["sign"]);
  const hashOf = async (text: string): Promise<string> => {
    const bytes = new Uint8Array(await crypto.subtle.sign("HMAC", key, encoder.encode(text))).subarray(0, HASH_BYTES);
    return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  };
  const ofService = `${namespace}:${FORMAT}:{${await hashOf(token)}}:${await hashOf(service)}`;
  return KEYS.map((kind) => `${ofService}:${kind}`);
}
