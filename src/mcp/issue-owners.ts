import { Owners } from "../bulk/owner.ts";
import type { Client } from "../client/client.ts";
import { hookable } from "../core/call/call-hooks.ts";
import { isLoopback, readService } from "../core/wire/base-url.ts";
import type { Project } from "../service/models.ts";
import { type Entry, type IssueMemory, type Knowledge, partsOf } from "./issue-memory.ts";

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

/** The token that a client held when it was last looked at. */
interface Held {
  readonly token: string;
  readonly swaps: number;
}

/**
 * Decides to which token an issue is shown: the one that wrote it, and one that replaces this in a rotation or a renewal. The
 * tokens of one provider may be those of several users, so they know nothing of each other. An issue of any other token is
 * a doubt.
 */
export class IssueOwners {
  readonly #client: Client;
  readonly #owners: Owners;
  readonly #memory: IssueMemory;
  #held: Held | undefined;

  constructor(client: Client, memory: IssueMemory) {
    this.#client = client;
    this.#owners = new Owners(readService(client.baseUrl), hookable(client)?.fetch);
    this.#memory = memory;
  }

  /** The name of an issue for every token. */
  nameOf(key: IssueKey): string {
    return JSON.stringify([this.#owners.service, ...key]);
  }

  entryOf(key: IssueKey, token: string): Entry {
    const owner = this.#owners.of(token);
    return { name: JSON.stringify([owner.service, ...key]), token: owner.token };
  }

  /**
   * Returns the token that the client holds; `undefined` where a provider decides. If it has replaced another one in a
   * rotation since the last look, it knows what that one wrote.
   */
  async held(limitMs: number): Promise<string | undefined> {
    const { swaps, token } = hookable(this.#client) ?? {};
    const [count, current] = [swaps?.(), token?.()];
    if (count === undefined || current === undefined) return undefined;
    const before = this.#held;
    this.#held = { token: current, swaps: count };
    if (before?.swaps === count) await this.#share(before.token, current, limitMs);
    return current;
  }

  /** The requests of one tool call had first one token, then another: the second one knows what the first one wrote. */
  async replaced(from: string, to: string, limitMs: number): Promise<void> {
    if ((await this.held(limitMs)) === undefined) await this.#share(from, to, limitMs);
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
    const isProvided = hookable(this.#client)?.swaps() === undefined;
    const { place } = readName(entry.name);
    for (const other of this.#memory.alike(entry.name)) {
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
    const [own] = key;
    const others = new Set(this.#memory.alike(this.nameOf(key)).map(({ name }) => readName(name).project));
    others.delete(own);
    return new Set([own, ...(others.size === 0 ? [] : await sameProject(own, others, list()))]);
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
