/**
 * The clients, each made as its own documentation makes it: default settings, and the address, the token and the call's
 * header in the place that it has for them.
 */

import { CALL_HEADER, type Service } from "./experiment.ts";

/** The calls of the experiment, made with one client. What they resolve with is checked. */
export interface Calls {
  /** The projects of the first page, which has them all. */
  listProjects(call: string): Promise<unknown>;
  /** The created issue. */
  createIssue(call: string, issue: NewIssue): Promise<unknown>;
}

export interface NewIssue {
  readonly project: string;
  readonly title: string;
  readonly type: string;
}

export interface Contender {
  readonly name: string;
  readonly packages: readonly string[];
  /** Loads the packages, which only the process of this contender does, and makes a client. */
  connect(service: Service): Promise<Calls>;
}

export const contenders: readonly Contender[] = [
  { name: "project-automation", packages: ["project-automation"], connect: connectOurs },
  { name: "openai", packages: ["openai"], connect: connectOpenai },
  {
    name: "octokit",
    packages: ["@octokit/core", "@octokit/plugin-retry", "@octokit/plugin-throttling"],
    connect: connectOctokit,
  },
  { name: "ky", packages: ["ky"], connect: connectKy },
  { name: "ky + p-retry", packages: ["ky", "p-retry"], connect: (service) => connectKyWithRetry(service, {}) },
  {
    name: "ky (retry: 0) + p-retry",
    packages: ["ky", "p-retry"],
    connect: (service) => connectKyWithRetry(service, { retry: 0 }),
  },
];

async function connectOurs({ baseUrl, token }: Service): Promise<Calls> {
  const { Client } = await import("../../dist/index.js");
  const client = new Client({ baseUrl, token });
  return {
    listProjects: (call) => client.projects.list({}, { headers: { [CALL_HEADER]: call } }).toArray(),
    createIssue: (call, { project, ...issue }) =>
      client.issues.create(project, issue, { headers: { [CALL_HEADER]: call } }),
  };
}

async function connectOpenai({ baseUrl, token }: Service): Promise<Calls> {
  const { OpenAI } = await import("openai");
  const client = new OpenAI({ baseURL: baseUrl, apiKey: token });
  return {
    listProjects: async (call) => (await client.get<Page>("/projects", { headers: { [CALL_HEADER]: call } })).data,
    createIssue: (call, { project, ...body }) =>
      client.post<unknown>(`/projects/${project}/issues`, { body, headers: { [CALL_HEADER]: call } }),
  };
}

/** As the package `octokit` puts them together: its plugins in its order, its two handlers. */
async function connectOctokit({ baseUrl, token }: Service): Promise<Calls> {
  const { Octokit } = await import("@octokit/core");
  const { retry } = await import("@octokit/plugin-retry");
  const { throttling } = await import("@octokit/plugin-throttling");
  const retryOnce = (_retryAfter: number, { request }: { request: { [option: string]: unknown } }): boolean =>
    request["retryCount"] === 0;
  const octokit = new (Octokit.plugin(retry, throttling))({
    baseUrl,
    throttle: { onRateLimit: retryOnce, onSecondaryRateLimit: retryOnce },
  });
  // Octokit's own `auth` would send GitHub's scheme, "token".
  const headersOf = (call: string) => ({ authorization: `Bearer ${token}`, [CALL_HEADER]: call });
  return {
    listProjects: async (call) => {
      const response = await octokit.request("GET /projects", { headers: headersOf(call) });
      return (response.data as Page).data;
    },
    createIssue: async (call, issue) => {
      const response = await octokit.request("POST /projects/{project}/issues", {
        ...issue,
        headers: headersOf(call),
      });
      return response.data as unknown;
    },
  };
}

async function connectKy(service: Service, options: KySettings = {}): Promise<Calls> {
  const { default: ky } = await import("ky");
  const { baseUrl, token } = service;
  const client = ky.create({ prefix: baseUrl, headers: { authorization: `Bearer ${token}` }, ...options });
  return {
    listProjects: async (call) =>
      (await client.get("projects", { headers: { [CALL_HEADER]: call } }).json<Page>()).data,
    createIssue: (call, { project, ...json }) =>
      client.post(`projects/${project}/issues`, { json, headers: { [CALL_HEADER]: call } }).json(),
  };
}

async function connectKyWithRetry(service: Service, settings: KySettings): Promise<Calls> {
  const { default: pRetry } = await import("p-retry");
  const ky = await connectKy(service, settings);
  return {
    listProjects: (call) => pRetry(() => ky.listProjects(call)),
    createIssue: (call, issue) => pRetry(() => ky.createIssue(call, issue)),
  };
}

interface KySettings {
  readonly retry?: number;
}

interface Page {
  readonly data: unknown;
}
