import { randomBytes } from "node:crypto";
import { access, readdir, readFile, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { clearInterval, setInterval } from "node:timers";
import { JournalError } from "../../core/errors/journal-error.ts";
import { pause, removeFile, withFile } from "./durable-file.ts";
import { lifeOf, ownIdentity, type ProcessIdentity } from "./process-identity.ts";

/** The interval in which a lock is refreshed, and its age at which a process counts as dead if nothing else is known of it. */
const REFRESH_MS = 5_000;
const STALE_MS = 30_000;
/** The interval and the number of looks at another process that is just taking the lock. */
const LOOK_MS = 5;
const LOOKS = 400;

/** Of one length, so that one replaces the other in one write. */
const CLAIMED = "claimed";
const HELD = "is held";

/** `true` if a run uses the file, or has died while it did: its lock file is there. */
export async function wasUsed(file: string): Promise<boolean> {
  return (await lockFilesOf(file)).length > 0;
}

interface LockFile extends ProcessIdentity {
  readonly path: string;
  /** Tells the locks of one process apart, and decides between two that are taken at the same moment. */
  readonly id: string;
}

/**
 * Keeps two runs from using one file. Each run has a lock file of its own beside the file, named after its process: it
 * creates it, looks for those of others, and only then holds the lock, and removes those of dead processes.
 *
 * A process that is only taken for dead, since nothing was heard of it, may go on at any moment, also between its last look
 * at its lock file and a write. Both runs see that by the length of the file.
 */
export class FileLock {
  readonly #path: string;
  #refreshing: NodeJS.Timeout | undefined;

  private constructor(path: string) {
    this.#path = path;
  }

  /** @throws JournalError if another run has the lock, or is taking it. */
  static async take(file: string): Promise<FileLock> {
    const { place, pid, startedAt } = ownIdentity();
    const id = randomBytes(4).toString("hex");
    const path = `${file}.${place}-${pid}-${startedAt}-${id}.lock`;
    const lock = new FileLock(path);
    try {
      await write(path, CLAIMED, "wx");
      const left = await outlastOthers(file, { place, pid, startedAt, id, path });
      await lock.#hold();
      for (const other of left) await removeFile(other.path);
      return lock;
    } catch (error) {
      await lock.release();
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
    await removeFile(this.#path);
  }

  async #hold(): Promise<void> {
    await write(this.#path, HELD, "r+");
    this.#refreshing = setInterval(() => void write(this.#path, HELD, "r+").catch(() => {}), REFRESH_MS);
    this.#refreshing.unref();
  }
}

/**
 * Resolves when no other live process has the lock or may get it, with the lock files that are left behind: of processes that
 * are dead, or of which nothing is known and nothing was heard for long.
 */
async function outlastOthers(file: string, own: LockFile): Promise<LockFile[]> {
  for (let look = 0; ; look += 1) {
    const left: LockFile[] = [];
    let rival: LockFile | undefined;
    for (const other of await lockFilesOf(file)) {
      if (other.id === own.id) continue;
      const content = await contentOf(other.path);
      if (content === undefined) continue;
      if (!(await isAlive(other, own))) {
        left.push(other);
        continue;
      }
      // Of two that see each other, the higher id withdraws. The lower one waits: the other may not have seen this one.
      if (content === HELD || other.id < own.id || look === LOOKS) throw inUse(file, other);
      rival = other;
    }
    if (rival === undefined) return left;
    await pause(LOOK_MS);
  }
}

/** A process of which nothing else is known counts as alive as long as it refreshes its lock file. */
async function isAlive(other: LockFile, own: LockFile): Promise<boolean> {
  const life = lifeOf(other, own);
  if (life !== "not_known") return life === "alive";
  await write(own.path, CLAIMED, "r+");
  const [theirs, ours] = await Promise.all([changedAt(other.path), changedAt(own.path)]);
  if (theirs === undefined || ours === undefined) return true;
  // Both times are the file system's, so the clocks of the machines do not matter.
  return ours - theirs <= STALE_MS;
}

async function changedAt(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).mtimeMs;
  } catch {
    return undefined;
  }
}

async function contentOf(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch {
    return undefined;
  }
}

async function write(path: string, content: string, flags: "wx" | "r+"): Promise<void> {
  await withFile(path, flags, (file) => file.write(content, 0));
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
