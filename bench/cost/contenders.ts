/** The clients. Each is loaded only in the processes that measure it. */

import { resolve } from "node:path";
import type { Calls, Setting } from "./calls.ts";

export interface Contender {
  /** As the tables say it. */
  readonly name: string;
  readonly packages: readonly string[];
  connect(setting: Setting): Promise<Calls>;
}

export const OURS = "project-automation";
export const LISTENED = "project-automation, onEvent";
export const BARE = "fetch";
export const BARE_REQUEST = "fetch(new Request)";
export const KY = "ky";
export const KY_ZOD = "ky + zod/mini";

export const contenders: readonly Contender[] = [
  { name: BARE, packages: [], connect: async (setting) => (await import("./contenders/bare.ts")).connect(setting) },
  {
    name: BARE_REQUEST,
    packages: [],
    connect: async (setting) => (await import("./contenders/bare.ts")).connectWithRequest(setting),
  },
  { name: OURS, packages: [OURS], connect: async (setting) => (await import("./contenders/ours.ts")).connect(setting) },
  {
    name: LISTENED,
    packages: [OURS],
    connect: async (setting) => (await import("./contenders/ours.ts")).connectListened(setting),
  },
  { name: KY, packages: ["ky"], connect: async (setting) => (await import("./contenders/ky.ts")).connect(setting) },
  {
    name: KY_ZOD,
    packages: ["ky", "zod"],
    connect: async (setting) => (await import("./contenders/ky.ts")).connectWithSchemas(setting),
  },
  {
    name: "openai",
    packages: ["openai"],
    connect: async (setting) => (await import("./contenders/openai.ts")).connect(setting),
  },
  {
    name: "@anthropic-ai/sdk",
    packages: ["@anthropic-ai/sdk"],
    connect: async (setting) => (await import("./contenders/anthropic.ts")).connect(setting),
  },
  {
    name: "@notionhq/client",
    packages: ["@notionhq/client"],
    connect: async (setting) => (await import("./contenders/notion.ts")).connect(setting),
  },
  {
    name: "octokit",
    packages: ["@octokit/rest", "@octokit/plugin-retry"],
    connect: async (setting) => (await import("./contenders/octokit.ts")).connect(setting),
  },
  {
    name: "stripe",
    packages: ["stripe"],
    connect: async (setting) => (await import("./contenders/stripe.ts")).connect(setting),
  },
];

/** A contender of the list, or `name @ folder`: our package as it is built in another checkout. */
export async function connect(name: string, setting: Setting): Promise<Calls> {
  const [base = "", folder] = name.split(" @ ");
  const found = contenders.find((contender) => contender.name === base);
  if (found === undefined) throw new Error(`there is no contender ${name}`);
  return found.connect(folder === undefined ? setting : { ...setting, package: resolve(folder) });
}
