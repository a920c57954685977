/** Bytes of the hash that are kept: no two tokens meet, and no token can be computed from it. */
const HASH_BYTES = 16;
const KEYS = ["known", "slots", "queue", "seen"] as const;

/**
 * The keys of a token in Redis. They hold a hash keyed by the namespace, never the token itself. The hash is in braces,
 * so that a cluster keeps all keys of a token on one node.
 */
export async function tokenKeys(namespace: string, token: string): Promise<readonly string[]> {
  const encoder = new TextEncoder();
  const hmac = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", encoder.encode(namespace), hmac, false, ["sign"]);
  const bytes = new Uint8Array(await crypto.subtle.sign("HMAC", key, encoder.encode(token))).subarray(0, HASH_BYTES);
  const hash = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return KEYS.map((kind) => `${namespace}:{${hash}}:${kind}`);
}
