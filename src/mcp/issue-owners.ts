import { Owners } from "../bulk/owner.ts";
import type { Client } from "../client/client.ts";
import { internalsOf } from "../core/call/internals.ts";
import { isLoopback, readService } from "../core/wire/base-url.ts";
import type { Project } from "../service/models.ts";
import { type Entry, type IssueMemory, type Knowledge, partsOf, titleOf } from "./issue-memory.ts";

/** Project, title and type of an issue, as they were given. */
export type IssueKey = readonly [project: string, title: string, type: string];

/** An issue is not created, because an earlier call may have created it. */
export class MayExistError extends Error {
  /** The earlier call, as a sentence goes on. It tells nothing of the call of another token. */
  readonly which: string;

  constructor(which: string) {
    super("an earlier call may have created this issue");
    this.which = which;
  }
}

/** The longest time that a journal takes to be told of another token, in milliseconds. */
const HAND_OVER_MS = 10_000;

/** Ends the hearing of owners that nothing refers to any more: clients that are made per request share a source of tokens. */
const forgotten = new FinalizationRegistry<() => void>((unsubscribe) => unsubscribe());

/**
 * Decides to which token an issue is shown: the one that wrote it, and one that replaces this in a rotation or a renewal. The
 * tokens of one provider may be those of several users, so they know nothing of each other. An issue of any other token is
 * a doubt.
 */
export class IssueOwners {
  readonly #client: Client;
  readonly #owners: Owners;
  readonly #memory: IssueMemory;
  /** The number of times that the token was swapped by hand, when it was last replaced. */
  #swaps: number | undefined;
  /** Resolves when the journal, if it can be used, has what was handed over so far. Never rejects. */
  handedOver: Promise<unknown> = Promise.resolve();

  constructor(client: Client, memory: IssueMemory) {
    this.#client = client;
    this.#owners = new Owners(readService(client.baseUrl), internalsOf(client)?.context().fetch);
    this.#memory = memory;
    const tokens = internalsOf(client)?.context().tokenSource;
    if (tokens === undefined) return;
    this.#swaps = tokens.swaps;
    const reference = new WeakRef(this);
    const unsubscribe = tokens.subscribe((from, to) => {
      const owners = reference.deref();
      if (owners !== undefined) owners.#heard(from, to, tokens.swaps);
    });
    forgotten.register(this, unsubscribe);
  }

  entryOf(key: IssueKey, token: string): Entry {
    const owner = this.#owners.of(token);
    return { name: JSON.stringify([owner.service, ...key]), token: owner.token };
  }

  /** The token that the client holds; `undefined` where a provider decides. */
  get held(): string | undefined {
    const { swaps, current } = internalsOf(this.#client)?.context().tokenSource ?? {};
    return swaps === undefined ? undefined : current;
  }

  /** The requests of one tool call had first one token, then another: the second one knows what the first one wrote. */
  async replaced(from: string, to: string, limitMs: number): Promise<void> {
    if (this.held === undefined) await this.#share(from, to, limitMs);
  }

  /**
   * Returns the issue if an earlier call has created it. `projects` are the names and ids that may be its project.
   *
   * @throws MayExistError if an earlier call may have created it
   */
  recall(entry: Entry, projects: ReadonlySet<unknown>): Extract<Knowledge, { state: "created" }> | undefined {
    const known = this.#memory.get(entry);
    if (known?.state === "created") return known;
    if (known?.state === "unknown") throw new MayExistError(`at ${known.at}`);
    const isProvided = this.held === undefined;
    const { place } = readName(entry.name);
    for (const other of this.#memory.alike(titleOf(entry.name))) {
      const isOwn = other.token === entry.token;
      if (!isOwn && isProvided && !other.isLoaded) continue;
      const its = readName(other.name);
      if (its.place !== place || !projects.has(its.project)) continue;
      throw new MayExistError(isOwn ? "for another spelling of this project or address" : "made with another token");
    }
    return undefined;
  }

  /** Returns the project, and those that remembered issues name and that may be this one, by its name or its id. */
  async projectsLike(key: IssueKey, list: () => AsyncIterable<Project>): Promise<ReadonlySet<unknown>> {
    const [own, ...title] = key;
    const others = new Set(this.#memory.alike(JSON.stringify(title)).map(({ name }) => readName(name).project));
    others.delete(own);
    return new Set([own, ...(others.size === 0 ? [] : await sameProject(own, others, list()))]);
  }

  /** A token replaces another one, in a call of a tool or of the application. One that was swapped by hand knows nothing. */
  #heard(from: string, to: string, swaps: number | undefined): void {
    const isRotation = swaps === this.#swaps;
    this.#swaps = swaps;
    if (!isRotation) return;
    const shared = this.#share(from, to, HAND_OVER_MS).catch(() => {}); // what is not in the journal is a doubt
    this.handedOver = Promise.all([this.handedOver, shared]);
  }

  async #share(from: string, to: string, limitMs: number): Promise<void> {
    const [before, after] = [this.#owners.of(from).token, this.#owners.of(to).token];
    if (before !== undefined && after !== undefined && before !== after) {
      await this.#memory.share(before, after, limitMs);
    }
  }
}

/** The hosts of loopback are one place. */
function readName(name: string): { readonly place: string; readonly project: unknown } {
  const [service, project] = partsOf(name);
  return { place: placeOf(String(service)), project };
}

function placeOf(service: string): string {
  if (!URL.canParse(service)) return service;
  const url = new URL(service);
  if (isLoopback(url.hostname)) url.hostname = "localhost";
  return url.href;
}

/** Returns those of `others` that may be the project. Where the list cannot be read, each may be. */
async function sameProject(
  project: unknown,
  others: Set<unknown>,
  list: AsyncIterable<Project>,
): Promise<ReadonlySet<unknown>> {
  try {
    for await (const { id, name } of list) {
      if (id === project || name === project) return new Set([id, name].filter((one) => others.has(one)));
      others.delete(id);
      others.delete(name);
    }
  } catch {
    // the doubt is said
  }
  return others;
}
