/** TEST ONLY: a certificate authority that only tests trust, and what it signed. See test/support/certificates/create.sh. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";

const FOLDER = resolve(import.meta.dirname, "../../support/certificates");

const read = (name: string): string => readFileSync(resolve(FOLDER, name), "utf8");

/** Where the authority's certificate is. */
export const CA_FILE: string = resolve(FOLDER, "ca.pem");
export const CA: string = read("ca.pem");
/** For `localhost` and `127.0.0.1`. */
export const SERVER_FILES: { readonly cert: string; readonly key: string } = {
  cert: resolve(FOLDER, "server.pem"),
  key: resolve(FOLDER, "server-key.pem"),
};
export const SERVER: { readonly cert: string; readonly key: string } = {
  cert: read("server.pem"),
  key: read("server-key.pem"),
};
/** What a client proves its identity with. */
export const CLIENT: { readonly cert: string; readonly key: string } = {
  cert: read("client.pem"),
  key: read("client-key.pem"),
};
