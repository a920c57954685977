import type { Probe } from "./probe.ts";
import { ADDRESS_PROBES } from "./probes/address.ts";
import { HEADER_PROBES } from "./probes/headers.ts";
import { LIST_PROBES } from "./probes/lists.ts";
import { PROXY_PROBES } from "./probes/proxies.ts";
import { RECORD_PROBES } from "./probes/records.ts";
import { REFUSAL_PROBES } from "./probes/refusals.ts";
import { SCOPE_PROBES } from "./probes/scopes.ts";
import { TOKEN_PROBES } from "./probes/tokens.ts";

/** Every question, in the order in which reports list them. */
export const PROBES: readonly Probe[] = [
  ...ADDRESS_PROBES,
  ...SCOPE_PROBES,
  ...LIST_PROBES,
  ...RECORD_PROBES,
  ...HEADER_PROBES,
  ...REFUSAL_PROBES,
  ...PROXY_PROBES,
  ...TOKEN_PROBES,
];
