import type { Asker } from "./ask.ts";
import { codeOf, isSuccess, outlineOf, pageOf } from "./reading.ts";
import { basePathOf, ELSEWHERE, PROJECTS, WITH_UNKNOWN_TOKEN, WITHOUT_TOKEN } from "./steps.ts";
import { type Answer, certificateProblem, type Failure, labelOf, type Reply } from "./wire.ts";

/**
 * Why nothing can be learned from the deployment, in a sentence; `undefined` if it is the service and lets the token
 * list projects.
 */
export async function obstacleTo(asker: Asker, baseUrl: URL, ignoredProxy?: string): Promise<string | undefined> {
  const first = await asker.ask(WITHOUT_TOKEN);
  const projects = await asker.ask(PROJECTS);
  for (const answer of [first, projects]) if (answer.kind === "failure") return noConnection(answer, ignoredProxy);
  if (projects.kind !== "response") return projects.kind === "not_asked" ? projects.reason : undefined;
  if (pageOf(projects) !== undefined) return undefined;
  const { status, request } = projects;
  const answered = `${labelOf(request)} answered ${outlineOf(projects)}`;
  if (isKept(projects, first)) {
    return `a cache answers in place of the service: ${answered} with the token, as before without one`;
  }
  if (status === 401) return `the token is not accepted: ${answered}`;
  if (status === 403 && projects.json === undefined && projects.text !== "") {
    return `a gateway or firewall refuses the request: ${answered}, not JSON; the body of the client's error has its text`;
  }
  if (status === 403) return forbidden(answered, projects, await asker.ask(WITH_UNKNOWN_TOKEN));
  if (status >= 500) return `the service is failing: ${answered}`;
  if (status === 404) return notFound(answered, await asker.ask(ELSEWHERE), baseUrl);
  const isJson = isSuccess(projects) && projects.json !== undefined;
  return `this is not the service: ${answered}${isJson ? " with JSON that is no list (data, next_cursor)" : ""}`;
}

/** Returns whether a reply is an earlier one: it has the id of that, or says that it is old. */
function isKept({ headers }: Reply, earlier: Answer): boolean {
  const id = headers.get("x-request-id");
  const isSame = earlier.kind === "response" && id !== null && id === earlier.headers.get("x-request-id");
  return isSame || Number(headers.get("age")) > 0;
}

function noConnection(failure: Failure, ignoredProxy: string | undefined): string {
  const problem = certificateProblem(failure);
  if (problem !== undefined) return `no trusted connection: ${problem} (${failure.code}), so the token is not sent`;
  if (failure.isSent) return `no usable response: ${failure.message}`;
  const hint = `; ${ignoredProxy} is set, and Node ignores it without NODE_USE_ENV_PROXY=1`;
  return `no connection: ${failure.message}${ignoredProxy === undefined ? "" : hint}`;
}

function forbidden(answered: string, projects: Reply, unknown: Answer): string {
  const isSame = unknown.kind === "response" && unknown.status === 403 && codeOf(unknown) === codeOf(projects);
  return isSame
    ? `the token is not accepted, or may not list projects: ${answered}, as to a token that does not exist`
    : `the token may not list projects: ${answered}; it needs the scope projects:read`;
}

function notFound(answered: string, elsewhere: Answer, baseUrl: URL): string {
  if (elsewhere.kind === "response" && pageOf(elsewhere) !== undefined) {
    return `the service is at ${elsewhere.request.basePath}, not at ${basePathOf(baseUrl) || "/"}: ${answered}`;
  }
  const hint = /\/v\d+$/.test(basePathOf(baseUrl)) ? "" : "; the address may lack its version segment, such as /api/v1";
  return `this is not the service: ${answered}${hint}`;
}
