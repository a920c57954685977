import { randomBytes } from "node:crypto";
import { access, type FileHandle, open, readdir, readFile, rm, stat, utimes } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { clearInterval, setInterval } from "node:timers";
import { sleep } from "../../base/clock.ts";
import { JournalError } from "../../errors/journal-error.ts";
import { lifeOf, ownIdentity, type ProcessIdentity } from "./process-identity.ts";

/** How often a lock is refreshed, and how old it must be until a process of which nothing else is known counts as dead. */
const REFRESH_MS = 5_000;
const STALE_MS = 30_000;
/** How often, and how many times, a process looks again at another that is just taking the lock. */
const LOOK_MS = 5;
const LOOKS = 400;

/** What a lock file says. Both are of one length, so that one replaces the other in one write. */
const CLAIMED = "claimed";
const HELD = "is held";

interface LockFile extends ProcessIdentity {
  readonly path: string;
  /** Tells the locks of one process apart, and decides between two that are taken at the same moment. */
  readonly id: string;
}

/**
 * Keeps two runs from using one file. Each run has a lock file of its own beside the file, named after its process: it
 * creates it, looks for those of others, and only then holds the lock. So the lock file of a dead process can be removed
 * by anyone at any moment, without taking the lock from a live one.
 */
export class FileLock {
  readonly #path: string;
  readonly #refreshing: NodeJS.Timeout;

  private constructor(path: string) {
    this.#path = path;
    this.#refreshing = setInterval(() => void write(path, HELD, "r+").catch(() => {}), REFRESH_MS);
    this.#refreshing.unref();
  }

  /** @throws JournalError if another run has the lock, or is taking it. */
  static async take(file: string): Promise<FileLock> {
    const { place, pid, startedAt } = ownIdentity();
    const id = randomBytes(4).toString("hex");
    const path = `${file}.${place}-${pid}-${startedAt}-${id}.lock`;
    await write(path, CLAIMED, "wx");
    try {
      await outlastOthers(file, { place, pid, startedAt, id, path });
      await write(path, HELD, "r+");
      return new FileLock(path);
    } catch (error) {
      await rm(path, { force: true });
      throw error;
    }
  }

  /** @throws JournalError if the lock file is gone: another run may have taken this one for dead. */
  async confirm(): Promise<void> {
    try {
      await access(this.#path);
    } catch (cause) {
      const message = `the lock file ${this.#path} is gone, so another run may use the journal`;
      throw new JournalError(message, { reason: "in_use", cause });
    }
  }

  async release(): Promise<void> {
    clearInterval(this.#refreshing);
    await rm(this.#path, { force: true });
  }
}

/** Resolves when no other live process has the lock or may get it. */
async function outlastOthers(file: string, own: LockFile): Promise<void> {
  for (let look = 0; ; look += 1) {
    let rival: LockFile | undefined;
    for (const other of await lockFilesOf(file)) {
      if (other.id === own.id) continue;
      const content = await contentOf(other.path);
      if (content === undefined) continue;
      if (await isDead(other, own)) {
        await rm(other.path, { force: true });
        continue;
      }
      // Of two that see each other, the higher id withdraws. The lower one waits: the other may not have seen this one.
      if (content === HELD || other.id < own.id || look === LOOKS) throw inUse(file, other);
      rival = other;
    }
    if (rival === undefined) return;
    await sleep(LOOK_MS, undefined);
  }
}

async function isDead(other: LockFile, own: LockFile): Promise<boolean> {
  const life = lifeOf(other, own);
  if (life !== "not_known") return life === "dead";
  await write(own.path, CLAIMED, "r+");
  const [theirs, ours] = await Promise.all([changedAt(other.path), changedAt(own.path)]);
  if (theirs === undefined || ours === undefined) return false;
  // The clock has gone back since, so its time tells nothing: from now on it does, unless a live process refreshes it.
  if (theirs > ours) await utimes(other.path, ours / 1_000, ours / 1_000).catch(() => {});
  // Both times are the file system's, so the clocks of the machines do not matter.
  return ours - theirs > STALE_MS;
}

async function changedAt(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).mtimeMs;
  } catch {
    return undefined;
  }
}

/** What a lock file says; `undefined` if it is gone. */
async function contentOf(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch {
    return undefined;
  }
}

async function write(path: string, content: string, flags: "wx" | "r+"): Promise<void> {
  const handle: FileHandle = await open(path, flags, 0o600);
  try {
    await handle.write(content, 0);
  } finally {
    await handle.close();
  }
}

async function lockFilesOf(file: string): Promise<LockFile[]> {
  const folder = dirname(file);
  const beginning = `${basename(file)}.`;
  const names = (await readdir(folder)).filter((name) => name.startsWith(beginning));
  return names.flatMap((name) => {
    const match = /^([0-9a-f]{12})-(\d+)-(\d+)-([0-9a-f]{8})\.lock$/.exec(name.slice(beginning.length));
    if (match === null) return [];
    const [, place = "", pid, startedAt = "", id = ""] = match;
    return [{ path: join(folder, name), place, pid: Number(pid), startedAt, id }];
  });
}

function inUse(file: string, { pid, path }: LockFile): JournalError {
  const message = `another run uses the journal ${file}: process ${pid}, by its lock file ${path}`;
  return new JournalError(message, { reason: "in_use" });
}
