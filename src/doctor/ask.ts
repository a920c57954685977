import { VERSION } from "../client/version.ts";
import { statusMayPass } from "../core/call/decide-retry.ts";
import { isError, isObject } from "../core/checks/values.ts";
import { problemOfToken } from "../core/token/token-format.ts";
import { parseJson, valuesOf } from "../core/wire/json.ts";
import { parseRetryAfter } from "../core/wire/retry-after.ts";
import { isSuccess, outlineOf, pageOf } from "./reading.ts";
import type { Step } from "./step.ts";
import { basePathOf, PROJECTS } from "./steps.ts";
import { TOKEN_NAME } from "./token-steps.ts";
import {
  type Answer,
  type Failure,
  labelOf,
  notAsked,
  type PlannedRequest,
  type Reply,
  type Send,
  type WireRequest,
} from "./wire.ts";

export interface Surroundings {
  readonly send: Send;
  readonly sleep: (ms: number) => Promise<void>;
  readonly wallClock: () => number;
  /** Ends the run early; a token that was created is still revoked. */
  readonly signal: AbortSignal;
  /** Called with a line about a wait, for a person who watches. */
  readonly notify: (line: string) => void;
  /** The environment variable that names a proxy for the address, if Node ignores it. */
  readonly ignoredProxy?: string | undefined;
}

export interface Deployment {
  readonly baseUrl: URL;
  readonly token: string;
  /** True if a token may be created and revoked. */
  readonly write: boolean;
}

/** The wait between two requests: other programs may use the limit of the same token. */
const PACE_MS = 200;
/** The window of the API documentation, for a 429 that does not say how long to wait. */
const WINDOW_MS = 60_000;
/** The longest that one request waits behind 429s. A longer wait is a ban or a mistake. */
const LONGEST_WAIT_MS = 120_000;
/** The most repeats of one request behind a 429; below, behind a failure that may pass. */
const MAX_WAITS = 3;
/** In place of the secret part of a token. */
const MASKED = /[*•…]|\.\.\./;
const MAX_REPEATS = { GET: 1, POST: 0, DELETE: 3 };

/** Sends the requests of steps, one at a time, each once, in the order in which they need one another. */
export class Asker {
  readonly #deployment: Deployment;
  readonly #around: Surroundings;
  readonly #answers = new Map<Step, Answer>();
  readonly #replies: Reply[] = [];
  readonly #secrets: Set<string>;
  #halted: string | undefined;
  #isToldToWait = false;

  constructor(deployment: Deployment, around: Surroundings) {
    this.#deployment = deployment;
    this.#around = around;
    this.#secrets = new Set([deployment.token]);
  }

  get replies(): readonly Reply[] {
    return this.#replies;
  }

  get secrets(): ReadonlySet<string> {
    return this.#secrets;
  }

  /** Why no further question is asked; `undefined` while they are. */
  get halted(): string | undefined {
    return this.#around.signal.aborted ? "the run was interrupted" : this.#halted;
  }

  /** The answer to a step; asks it, and what it needs, if that has not happened yet. */
  async ask(step: Step): Promise<Answer> {
    const known = this.#answers.get(step);
    if (known !== undefined) return known;
    const needed: Record<string, Answer> = {};
    for (const [name, earlier] of Object.entries(step.after)) needed[name] = await this.ask(earlier);
    const answer = await this.#answer(step, needed);
    this.#answers.set(step, answer);
    return answer;
  }

  async #answer(step: Step, needed: Readonly<Record<string, Answer>>): Promise<Answer> {
    if (step.writes && !this.#deployment.write) return notAsked("asked only with --write");
    if (this.halted !== undefined && !step.cleansUp) return notAsked(this.halted);
    try {
      const planned = step.request(needed, this.#deployment.baseUrl);
      if ("kind" in planned) return planned;
      const heard = this.#replies.length;
      const answer = await this.#send(planned, step);
      if (step.writes || step.cleansUp || answer.kind === "not_asked" || !isDoubtful(answer)) return answer;
      return await this.#unlessGone(answer, heard);
    } catch (error) {
      // The id or name is not valid in a path.
      return notAsked(isError(error) ? error.message : "the request cannot be written");
    }
  }

  /**
   * The answer, unless the service has gone since it listed projects. Then nothing more is asked: each request would fail
   * alike. `heard` counts the responses before this answer.
   */
  async #unlessGone(answer: Reply | Failure, heard: number): Promise<Answer> {
    if (heard === 0 && answer.kind === "failure") this.#halted = `no response: ${answer.code}`;
    const listed = this.#answers.get(PROJECTS);
    if (listed?.kind !== "response" || pageOf(listed) === undefined) return answer;
    const again = await this.#send({ path: "/projects" }, PROJECTS);
    if (again.kind === "not_asked") return again;
    if (again.kind === "response" && pageOf(again) !== undefined) return answer;
    this.#replies.length = heard; // the others are not of the service that the report is about
    const said = again.kind === "response" ? outlineOf(again) : `no response (${again.code})`;
    this.#halted = `the service has gone during the run: GET /projects now gets ${said}`;
    return notAsked(this.#halted);
  }

  async #send(planned: PlannedRequest, step: Step): Promise<Answer> {
    const { cleansUp } = step;
    const { method = "GET" } = planned;
    let waits = 0;
    let waitedMs = 0;
    let repeats = 0;
    for (;;) {
      const answer = await this.#outlast(planned, step);
      if (answer.kind === "response" && answer.status === 429) {
        const waitMs = waitOf(answer);
        waitedMs += waitMs;
        if (waitedMs > LONGEST_WAIT_MS || ++waits > MAX_WAITS) return this.#giveUp(waitMs);
        await this.#pause(waitMs, `${labelOf(planned)}: the rate limit is reached`);
      } else {
        if (!mayPass(answer) || ++repeats > MAX_REPEATS[method]) return answer;
        await this.#pause(repeats * 1_000, `${labelOf(planned)}: asked again`);
      }
      if (this.halted !== undefined && !cleansUp) return notAsked(this.halted);
    }
  }

  #giveUp(waitMs: number): Answer {
    const seconds = Math.ceil(waitMs / 1_000);
    this.#halted = `the rate limit refuses every request; the last one asked to wait ${seconds} s`;
    return notAsked(this.#halted);
  }

  async #pause(ms: number, why: string): Promise<void> {
    if (this.#around.signal.aborted) return; // an interrupted run waits for nothing
    this.#around.notify(`${why}; waiting ${Math.ceil(ms / 1_000)} s`);
    await this.#around.sleep(ms);
  }

  /** An interrupted run waits for the requests that create and revoke a token, and says so. */
  async #outlast(planned: PlannedRequest, { reveals, cleansUp }: Step): Promise<Reply | Failure> {
    const { signal, notify } = this.#around;
    if (!reveals && !cleansUp) return this.#exchange(planned, reveals);
    const tell = (): void => {
      if (this.#isToldToWait) return;
      this.#isToldToWait = true;
      const wait = `waiting for the answer to ${labelOf(planned)}, to revoke the token "${TOKEN_NAME}"`;
      notify(`interrupted; ${wait}; interrupt again to end at once, and the token may stay`);
    };
    if (signal.aborted) tell();
    signal.addEventListener("abort", tell);
    try {
      return await this.#exchange(planned, reveals);
    } finally {
      signal.removeEventListener("abort", tell);
    }
  }

  async #exchange(planned: PlannedRequest, reveals: boolean): Promise<Reply | Failure> {
    if (this.#replies.length > 0) await this.#around.sleep(PACE_MS);
    const startedAt = this.#around.wallClock();
    const response = await this.#around.send(this.#write(planned));
    const endedAt = this.#around.wallClock();
    if (response.kind === "failure") return response;
    const json = parseJson(response.text);
    if (reveals) for (const plaintext of plaintextsOf(json)) this.#secrets.add(plaintext);
    const everything = `${response.text}\n${[...response.headers].flat().join("\n")}`;
    const isRepeated = [...this.#secrets].some((secret) => everything.includes(secret));
    const repeatsToken = !reveals && (isRepeated || plaintextsOf(json).some((text) => !MASKED.test(text)));
    const reply = { ...response, request: planned, json, startedAt, endedAt, repeatsToken };
    this.#replies.push(reply);
    return reply;
  }

  #write(planned: PlannedRequest): WireRequest {
    const { method = "GET", path, credential = "own", headers, json, basePath } = planned;
    const { baseUrl, token } = this.#deployment;
    const bearer = { own: token, none: undefined, unknown: unknownToken(token) };
    const sent = typeof credential === "object" ? credential.plaintext : bearer[credential];
    return {
      method,
      url: `${baseUrl.origin}${basePath ?? basePathOf(baseUrl)}${path}`,
      headers: {
        accept: "application/json",
        "accept-encoding": "identity",
        "user-agent": `project-automation-doctor/${VERSION}`,
        ...(sent === undefined || problemOfToken(sent) !== undefined ? {} : { authorization: `Bearer ${sent}` }),
        ...(json === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      body: json === undefined ? undefined : JSON.stringify(json),
    };
  }
}

/** A token of the same form as `token` that does not exist. */
function unknownToken(token: string): string {
  const [prefix = "", keyId, secret] = token.split("_");
  return `${keyId !== undefined && secret !== undefined ? prefix : "unknown"}_${"0".repeat(16)}_${"0".repeat(32)}`;
}

function waitOf({ headers, endedAt }: Reply): number {
  return parseRetryAfter(headers.get("retry-after"), headers.get("date"), endedAt) ?? WINDOW_MS;
}

/** `true` for an answer that another one in the place of the service may have given. */
function isDoubtful(answer: Reply | Failure): boolean {
  const isPage = answer.kind === "response" && isSuccess(answer) && answer.json === undefined && answer.text !== "";
  return isPage || mayPass(answer);
}

function mayPass(answer: Reply | Failure): boolean {
  return answer.kind === "failure" ? answer.permanent !== true : statusMayPass(answer.status);
}

/** The values of every `plaintext` field, at any level. */
function plaintextsOf(root: unknown): string[] {
  return [...valuesOf(root)]
    .map((value): unknown => isObject(value) && Reflect.get(value, "plaintext"))
    .filter((plaintext): plaintext is string => typeof plaintext === "string" && plaintext !== "");
}
