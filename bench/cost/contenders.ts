/** The clients. Each is loaded only in the processes that measure it. */

import { resolve } from "node:path";
import type { Calls, Setting } from "./calls.ts";

/** How a client is made, and the packages that takes. */
interface Contender {
  readonly packages: readonly string[];
  connect(setting: Setting): Promise<Calls>;
}

export const OURS = "project-automation";
export const LISTENED = `${OURS}, onEvent`;
export const PREFETCHING = `${OURS}, prefetch`;
export const PAGED = `${OURS}, pages()`;
export const BARE = "fetch";
export const KY = "ky";
export const KY_ZOD = "ky + zod/mini";
const BARE_REQUEST = "fetch(new Request)";

const bare = () => import("./contenders/bare.ts");
const ours = () => import("./contenders/ours.ts");
const ky = () => import("./contenders/ky.ts");
const openai = () => import("./contenders/openai.ts");
const anthropic = () => import("./contenders/anthropic.ts");
const notion = () => import("./contenders/notion.ts");
const octokit = () => import("./contenders/octokit.ts");
const stripe = () => import("./contenders/stripe.ts");

const contenders: Readonly<Record<string, Contender>> = {
  [BARE]: { packages: [], connect: async (setting) => (await bare()).connect(setting) },
  [BARE_REQUEST]: { packages: [], connect: async (setting) => (await bare()).connectWithRequest(setting) },
  [OURS]: { packages: [OURS], connect: async (setting) => (await ours()).connect(setting) },
  [LISTENED]: { packages: [OURS], connect: async (setting) => (await ours()).connectListened(setting) },
  [PREFETCHING]: { packages: [OURS], connect: async (setting) => (await ours()).connectPrefetching(setting) },
  [PAGED]: { packages: [OURS], connect: async (setting) => (await ours()).connectPaged(setting) },
  [KY]: { packages: ["ky"], connect: async (setting) => (await ky()).connect(setting) },
  [KY_ZOD]: { packages: ["ky", "zod"], connect: async (setting) => (await ky()).connectWithSchemas(setting) },
  openai: { packages: ["openai"], connect: async (setting) => (await openai()).connect(setting) },
  anthropic: { packages: ["@anthropic-ai/sdk"], connect: async (setting) => (await anthropic()).connect(setting) },
  notion: { packages: ["@notionhq/client"], connect: async (setting) => (await notion()).connect(setting) },
  octokit: { packages: ["@octokit/rest"], connect: async (setting) => (await octokit()).connect(setting) },
  "octokit + retry": {
    packages: ["@octokit/rest", "@octokit/plugin-retry"],
    connect: async (setting) => (await octokit()).connectRetrying(setting),
  },
  stripe: { packages: ["stripe"], connect: async (setting) => (await stripe()).connect(setting) },
};

export const PEERS = ["openai", "anthropic", "notion", "octokit", "stripe"] as const;
/** Everybody, for single calls. */
export const CALLERS = [BARE, BARE_REQUEST, OURS, LISTENED, KY, KY_ZOD, ...PEERS, "octokit + retry"] as const;
export const OTHER_SERVICES: readonly string[] = [...PEERS, "octokit + retry"];
export const packages: readonly string[] = Object.values(contenders).flatMap((contender) => contender.packages);

/** A contender by its name, or `name @ folder`: our package as it is built in another checkout. */
export async function connect(name: string, setting: Setting): Promise<Calls> {
  const [base = "", folder] = name.split(" @ ");
  const found = contenders[base];
  if (found === undefined) throw new Error(`there is no contender ${name}`);
  return found.connect(folder === undefined ? setting : { ...setting, package: resolve(folder) });
}
