/** The clients, each made as its own documentation makes it, with its defaults. A process loads the one that it measures. */

import { setTimeout as delay } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import type { Options as KyOptions } from "ky";
import type { ClientOptions, Client as OurClient } from "../dist/index.js";
import { moduleOf } from "./support/manifest.ts";

export interface Session {
  readonly id: string;
  readonly state: string;
}

export interface Issue {
  readonly number: number;
  readonly title: string;
}

export interface Item {
  readonly id: string;
  readonly name: string;
}

/** Does something with an item. The walk waits for the promise, if there is one. */
export type Visit = (item: Item) => Promise<void> | undefined;

/** The calls of one client. */
export interface Calls {
  createIssue(title: string): Promise<Issue>;
  getSession?(id: string): Promise<Session>;
  /** Visits every project, in order. */
  walk?(limit: number, visit: Visit): Promise<void>;
}

export interface Service {
  readonly baseUrl: string;
  readonly token: string;
  /** In place of the global one. */
  readonly fetch?: typeof globalThis.fetch;
  /** The checkout of our package. */
  readonly folder: string;
}

export interface Client {
  readonly packages: readonly string[];
  connect(service: Service): Promise<Calls>;
}

export const OURS = "project-automation";
export const BARE = "fetch";
export const KY = "ky";
export const KY_ZOD = "ky + zod/mini";
/** What our client is made of, put together by hand. */
export const STACK = "ky + p-retry + zod/mini";
export const PREFETCHING = `${OURS}, prefetch` as const;
/** A loop over `fetch` that keeps every item in an array, to compare memory with. */
export const KEEPING = "fetch, every item kept";
export const LOOP = "a retry loop by hand";
/** The retries of other clients, switched on for a `POST`. */
export const KY_RETRYING = "ky, 5 retries";
export const OPENAI_RETRYING = "openai, 5 retries";
export const PROJECT = "web";

interface Page {
  readonly data: readonly Item[];
  readonly next_cursor: string | null;
}

function bare({ baseUrl, token, fetch = globalThis.fetch }: Service, attempts = 1) {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const send = async <Body>(path: string, init?: RequestInit): Promise<Body> => {
    for (let attempt = 1; ; attempt += 1) {
      const response = await fetch(`${baseUrl}${path}`, { ...init, headers });
      if (response.ok) return (await response.json()) as Body;
      if ((response.status !== 429 && response.status < 500) || attempt === attempts)
        throw new Error(`${response.status}`);
      await delay(Number(response.headers.get("retry-after") ?? 1) * 1_000);
    }
  };
  return {
    getSession: (id: string) => send<Session>(`/sessions/${id}`),
    createIssue: (title: string) =>
      send<Issue>(`/projects/${PROJECT}/issues`, { method: "POST", body: JSON.stringify({ title, type: "bug" }) }),
    walk: (limit: number, visit: Visit) =>
      walk((cursor) => send(`/projects?limit=${limit}${cursor && `&cursor=${encodeURIComponent(cursor)}`}`), visit),
  } satisfies Calls;
}

/** Follows the cursors, as one would by hand. The first is empty. */
async function walk(read: (cursor: string) => Promise<Page>, visit: Visit): Promise<void> {
  for (let cursor: string | null = ""; cursor !== null; ) {
    const page: Page = await read(cursor);
    for (const item of page.data) {
      const busy = visit(item);
      if (busy !== undefined) await busy;
    }
    cursor = page.next_cursor;
  }
}

async function ours({ baseUrl, token, fetch, folder }: Service, params: { prefetch?: boolean } = {}): Promise<Calls> {
  const module = await import(pathToFileURL(moduleOf(folder, ".")).href);
  const { Client } = module as { Client: new (options: ClientOptions) => OurClient }; // of whatever checkout
  const client = new Client({ baseUrl, token, fetch });
  return {
    getSession: (id) => client.sessions.get(id),
    createIssue: (title) => client.issues.create(PROJECT, { title, type: "bug" }),
    async walk(limit, visit) {
      for await (const item of client.projects.list({ limit }, params)) {
        const busy = visit(item);
        if (busy !== undefined) await busy;
      }
    },
  };
}

/** `read` checks a body, or takes it as it is. */
async function kyCalls(
  { baseUrl, token, fetch }: Service,
  read: Read = (_, body) => body,
  options: KyOptions = {},
): Promise<Required<Calls>> {
  const { default: ky } = await import("ky");
  const headers = { authorization: `Bearer ${token}` };
  const client = ky.create({ prefix: baseUrl, headers, ...(fetch && { fetch }), ...options });
  const path = `projects/${PROJECT}/issues`;
  return {
    getSession: async (id) => read("session", await client.get(`sessions/${id}`).json()) as Session,
    createIssue: async (title) =>
      read("issue", await client.post(path, { json: { title, type: "bug" } }).json()) as Issue,
    walk: (limit, visit) => {
      const pageOf = async (searchParams: Record<string, string | number>): Promise<Page> =>
        read("page", await client.get("projects", { searchParams }).json()) as Page;
      return walk((cursor) => pageOf(cursor === "" ? { limit } : { limit, cursor }), visit);
    },
  };
}

type Read = (kind: "session" | "issue" | "page", body: unknown) => unknown;

async function openai({ baseUrl, token, fetch }: Service, options: { maxRetries?: number } = {}): Promise<Calls> {
  const { OpenAI } = await import("openai");
  const client = new OpenAI({ baseURL: baseUrl, apiKey: token, fetch, ...options });
  return {
    getSession: async (id) => client.get(`/sessions/${id}`),
    createIssue: async (title) => client.post(`/projects/${PROJECT}/issues`, { body: { title, type: "bug" } }),
  };
}

async function kyWithZod(service: Service, options: KyOptions = {}): Promise<Required<Calls>> {
  const z = await import("zod/mini");
  const item = z.looseObject({ id: z.string(), name: z.string() });
  const schemas = {
    session: z.looseObject({ id: z.string(), state: z.string() }),
    issue: z.looseObject({ number: z.int(), title: z.string(), status: z.string() }),
    page: z.looseObject({ data: z.array(item), next_cursor: z.nullable(z.string()) }),
  };
  return kyCalls(service, (kind, body) => schemas[kind].parse(body), options);
}

/** p-retry repeats in the place of ky. */
async function stack(service: Service): Promise<Calls> {
  const { default: pRetry } = await import("p-retry");
  const { getSession, createIssue } = await kyWithZod(service, { retry: 0 });
  return {
    getSession: (id) => pRetry(() => getSession(id), { retries: 2 }),
    createIssue: (title) => pRetry(() => createIssue(title), { retries: 2 }),
  };
}

export const clients = {
  [BARE]: { packages: [], connect: async (service) => bare(service) },
  [KEEPING]: {
    packages: [],
    connect: async (service) => {
      const calls = bare(service);
      const walk: Calls["walk"] = (limit, visit) => {
        const kept: Item[] = [];
        return calls.walk(limit, (item) => {
          kept.push(item);
          return visit(item);
        });
      };
      return { ...calls, walk };
    },
  },
  [LOOP]: { packages: [], connect: async (service) => bare(service, 5) },
  [OURS]: { packages: [OURS], connect: (service) => ours(service) },
  [PREFETCHING]: { packages: [OURS], connect: (service) => ours(service, { prefetch: true }) },
  [KY]: { packages: ["ky"], connect: (service) => kyCalls(service) },
  [KY_ZOD]: { packages: ["ky", "zod"], connect: (service) => kyWithZod(service) },
  [STACK]: { packages: ["ky", "p-retry", "zod"], connect: stack },
  [KY_RETRYING]: {
    packages: ["ky"],
    connect: (service) => kyCalls(service, undefined, { retry: { limit: 5, methods: ["post"] } }),
  },
  openai: { packages: ["openai"], connect: (service) => openai(service) },
  [OPENAI_RETRYING]: { packages: ["openai"], connect: (service) => openai(service, { maxRetries: 5 }) },
  octokit: {
    packages: ["@octokit/rest"],
    connect: async ({ baseUrl, token, fetch }) => {
      const { Octokit } = await import("@octokit/rest");
      const octokit = new Octokit({ baseUrl, auth: token, request: { fetch } });
      return {
        getSession: async (id) => (await octokit.request("GET /sessions/{id}", { id })).data as Session,
        createIssue: async (title) =>
          (await octokit.request("POST /projects/{project}/issues", { project: PROJECT, title, type: "bug" }))
            .data as Issue,
      };
    },
  },
  "@slack/web-api": {
    packages: ["@slack/web-api"],
    // Its own method, which the service of the herd has behind the same limit.
    connect: async ({ baseUrl, token }) => {
      const { WebClient, LogLevel } = await import("@slack/web-api");
      const slack = new WebClient(token, { slackApiUrl: `${baseUrl}/slack/`, logLevel: LogLevel.ERROR });
      return {
        createIssue: async (title) =>
          (await slack.apiCall("chat.postMessage", { channel: PROJECT, text: title })) as unknown as Issue,
      };
    },
  },
} satisfies Readonly<Record<string, Client>>;
export type ClientName = keyof typeof clients;
