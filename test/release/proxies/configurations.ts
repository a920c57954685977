/** What operators write into the configurations of proxies, with the least around it that the programs need. */
import { CA_FILE, SERVER_FILES } from "../../client/networks/certificates.ts";
import type { Configuration, Place } from "./proxy.ts";

/** Parts of the configuration of nginx. `listen`: behind the port. */
interface Nginx {
  readonly listen?: string;
  /** In the `server` block. */
  readonly server: string | ((place: Place) => string);
  /** In the `http` block, in front of it. */
  readonly http?: string | ((place: Place) => string);
}

const textOf = (part: string | ((place: Place) => string), place: Place): string =>
  typeof part === "string" ? part : part(place);

/** nginx as Debian starts it, with its folders moved to where a user may write. */
export function nginx({ server, listen = "", http = "" }: Nginx): Configuration {
  return (place) => `
    ${process.getuid?.() === 0 ? "user root;" : ""}
    worker_processes 2;
    error_log stderr warn;
    pid ${place.folder}/nginx.pid;
    events { worker_connections 512; }
    http {
      ${["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((kind) => `${kind}_temp_path ${place.folder}/${kind};`).join("\n")}
      types { text/html html; application/json json; }
      log_format told '$msec $request_method $status';
      access_log ${place.folder}/access.log told;
      ${textOf(http, place)}
      server { listen 127.0.0.1:${place.port}${listen}; ${textOf(server, place)} }
    }`;
}

/** The directives of TLS, with the certificate of the tests. */
export const TLS = `ssl_certificate ${SERVER_FILES.cert}; ssl_certificate_key ${SERVER_FILES.key}; ssl_client_certificate ${CA_FILE};`;

/** Passes every path on as it came. */
export const passes = ({ service }: Place): string => `location / { proxy_pass http://127.0.0.1:${service}; }`;
export const NGINX: Configuration = nginx({ server: passes });

/** HAProxy with rules of its frontend. */
export function haproxy(
  rules = "",
  backend: (place: Place) => string = ({ service }) => `127.0.0.1:${service}`,
): Configuration {
  return (place) => `
global
  expose-experimental-directives
defaults
  mode http
  timeout connect 2s
  timeout client 20s
  timeout server 20s
frontend in
  bind 127.0.0.1:${place.port}
${rules.replaceAll(/^/gm, "  ")}
  default_backend out
backend out
  server one ${backend(place)}
`;
}
export const HAPROXY: Configuration = haproxy();

/** Caddy with the block of a site. */
export function caddy(site: (place: Place) => string): Configuration {
  return (place) => `{
  admin 127.0.0.1:${place.adminPort}
  auto_https off
}
${site(place)}
`;
}
export const CADDY: Configuration = caddy(
  ({ port, service }) => `http://127.0.0.1:${port} {\n  reverse_proxy 127.0.0.1:${service}\n}`,
);
