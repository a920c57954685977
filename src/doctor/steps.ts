import { fieldsOf } from "../core/checks/values.ts";
import { encodeSegment } from "../core/wire/path.ts";
import { cursorOf, idOf, idsOf, outlineOf, pageOf, problemOfRead } from "./reading.ts";
import { replyOr, type Step, step } from "./step.ts";
import { type NotAsked, notAsked, type PlannedRequest, type Reply } from "./wire.ts";

const MADE_UP = "project-automation-doctor-made-this-up";
const ORIGIN = "https://project-automation-doctor.invalid";

/** The first request. It carries no token, since the connection may turn out not to be trusted. */
export const WITHOUT_TOKEN: Step = step({ request: () => ({ path: "/projects", credential: "none" }) });

/** The first request with the token. If its response is no list, nothing else is asked: see `obstacleTo`. */
export const PROJECTS: Step = step({
  after: { first: WITHOUT_TOKEN },
  request: ({ first }) => replyOr(first, () => ({ path: "/projects" })),
});

export const WITH_UNKNOWN_TOKEN: Step = step({
  after: { first: WITHOUT_TOKEN },
  request: ({ first }) => replyOr(first, () => ({ path: "/projects", credential: "unknown" })),
});

/** Under another version segment, if there is nothing under the given one. */
export const ELSEWHERE: Step = step({
  after: { projects: PROJECTS },
  request: ({ projects }, baseUrl) => replyOr(projects, () => ({ path: "/projects", basePath: otherVersion(baseUrl) })),
});

export function basePathOf({ pathname }: URL): string {
  return pathname.replace(/\/+$/, "");
}

/** Where the service may be if it is not at the base URL. */
function otherVersion(baseUrl: URL): string {
  const given = basePathOf(baseUrl);
  if (given.endsWith("/api/v1")) return given.replace(/1$/, "2");
  return /\/api\/v\d+$/.test(given) ? given.replace(/\d+$/, "1") : `${given}/api/v1`;
}

function withProjects(build: (projects: Reply) => PlannedRequest | NotAsked): Step {
  return step({ after: { projects: PROJECTS }, request: ({ projects }) => replyOr(projects, build) });
}

function read(path: string, shown?: string): Step {
  return withProjects(() => ({ path, shown }));
}

export const FIRST_PAGE: Step = read("/projects?limit=1");
export const SECOND_PAGE: Step = step({
  after: { first: FIRST_PAGE },
  request: ({ first }) =>
    replyOr(first, (reply) => {
      const cursor = cursorOf(pageOf(reply));
      if (cursor === undefined) return notAsked("the first page of one project has no cursor");
      const query = `limit=1&cursor=${encodeURIComponent(cursor)}`;
      return { path: `/projects?${query}`, shown: "/projects?limit=1&cursor={next_cursor}" };
    }),
});
export const LARGEST_PAGE: Step = read("/projects?limit=200");
export const LIMIT_ZERO: Step = read("/projects?limit=0");
export const LIMIT_ABOVE: Step = read("/projects?limit=201");
export const LIMIT_WORD: Step = read("/projects?limit=many");
export const UNKNOWN_CURSOR: Step = read(`/projects?cursor=${MADE_UP}`, "/projects?cursor={made up}");
export const UNKNOWN_ENDPOINT: Step = read(`/${MADE_UP}`, "/{made up}");
export const WRONG_METHOD: Step = read(`/me/tokens/${MADE_UP}/rotate`, "/me/tokens/{made up}/rotate");
export const CROSS_ORIGIN: Step = withProjects(() => ({ path: "/projects", headers: { origin: ORIGIN } }));

function sessionsOf(projects: Reply, index: number): PlannedRequest | NotAsked {
  const id = idsOf(pageOf(projects)?.data ?? [])[index];
  if (id === undefined) return notAsked("the token sees no project to ask about");
  const path = `/projects/${encodeSegment(id, "the id of a project")}/sessions?limit=200`;
  return { path, shown: "/projects/{project}/sessions?limit=200" };
}

const SESSIONS_OF_FIRST: Step = withProjects((projects) => sessionsOf(projects, 0));

/** The sessions of the next project, if the one before has none. */
function orSessionsOf(index: number, before: Step): Step {
  return step({
    after: { before, projects: PROJECTS },
    request: ({ before, projects }) => {
      if (before.kind !== "response" || pageOf(before)?.data.length !== 0) return before;
      const next = replyOr(projects, (list) => sessionsOf(list, index));
      return "kind" in next ? before : next;
    },
  });
}

/** The sessions of the first of three projects that has some, else none. */
export const SESSIONS: Step = orSessionsOf(2, orSessionsOf(1, SESSIONS_OF_FIRST));

/** The project that `SESSIONS` is about, as it was listed. */
function projectOf(projects: Reply, { request }: Reply): Readonly<Record<string, unknown>> {
  const [, , id = ""] = request.path.split("/");
  return fieldsOf(pageOf(projects)?.data.find((record) => idOf(record) === decodeURIComponent(id)));
}

/** A request that makes sense only if the token can list sessions. */
function withSessions(build: (sessions: Reply, projects: Reply) => PlannedRequest | NotAsked): Step {
  return step({
    after: { sessions: SESSIONS, projects: PROJECTS },
    request: ({ sessions, projects }) =>
      replyOr(sessions, (reply) => {
        const problem = problemOfRead(reply, "sessions:read");
        return problem === undefined ? replyOr(projects, (list) => build(reply, list)) : notAsked(problem);
      }),
  });
}

export const SESSIONS_BY_NAME: Step = withSessions((sessions, projects) => {
  const { name } = projectOf(projects, sessions);
  const path = `/projects/${encodeSegment(name, "the name of a project")}/sessions?limit=200`;
  return { path, shown: "/projects/{name}/sessions?limit=200" };
});

export const ISSUES: Step = withProjects((projects) => {
  const [id] = idsOf(pageOf(projects)?.data ?? []);
  if (id === undefined) return notAsked("the token sees no project to ask about");
  return { path: `/projects/${encodeSegment(id, "the id of a project")}/issues`, shown: "/projects/{project}/issues" };
});

export const SESSION: Step = withSessions((sessions) => {
  const [id] = idsOf(pageOf(sessions)?.data ?? []);
  if (id === undefined) return notAsked("none of the first three projects has a session");
  return { path: `/sessions/${encodeSegment(id, "the id of a session")}`, shown: "/sessions/{id}" };
});

/** A request that makes sense unless the token is known to lack `sessions:read`, whose refusal would hide another. */
function unlessForbidden(request: PlannedRequest): Step {
  return step({
    after: { sessions: SESSIONS },
    request: ({ sessions }) => {
      const isRefused = sessions.kind === "response" && (sessions.status === 401 || sessions.status === 403);
      return isRefused ? notAsked(problemOfRead(sessions, "sessions:read") ?? outlineOf(sessions)) : request;
    },
  });
}

export const UNKNOWN_PROJECT: Step = unlessForbidden({
  path: `/projects/${MADE_UP}/sessions`,
  shown: "/projects/{made up}/sessions",
});
export const UNKNOWN_SESSION: Step = unlessForbidden({ path: `/sessions/${MADE_UP}`, shown: "/sessions/{made up}" });
/** A session that no service has, with a slash in its id. */
export const ENCODED_SLASH: Step = unlessForbidden({
  path: `/sessions/${encodeSegment(`${MADE_UP}/${MADE_UP}`, "the id of a session")}`,
  shown: "/sessions/{made up}%2F{made up}",
});
/** The path that a proxy makes of `ENCODED_SLASH` if it decodes it. */
export const DECODED_SLASH: Step = unlessForbidden({
  path: `/sessions/${MADE_UP}/${MADE_UP}`,
  shown: "/sessions/{made up}/{made up}",
});

/** `text` without the values that the doctor made up, which a message may repeat. */
export function withoutMadeUp(text: string): string {
  return text.replaceAll(new RegExp(`${MADE_UP}(?:(?:/|%2F)${MADE_UP})?`, "gi"), "");
}
