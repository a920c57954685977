/** Bytes of the hash that are kept: two tokens never meet, and none can be found from it. */
const KEPT = 16;

/** What stands for a token in Redis: a hash keyed by the namespace, never the token itself. */
export async function tokenKey(namespace: string, token: string): Promise<string> {
  const bytes = new TextEncoder();
  const hmac = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", bytes.encode(namespace), hmac, false, ["sign"]);
  const hash = new Uint8Array(await crypto.subtle.sign("HMAC", key, bytes.encode(token)));
  return Array.from(hash.subarray(0, KEPT), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
