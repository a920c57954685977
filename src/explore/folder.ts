import { constants } from "node:fs";
import {
  access,
  copyFile,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readlink,
  realpath,
  rm,
  stat,
  symlink,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join, relative, resolve, sep } from "node:path";

const MOST = { files: 5_000, bytes: 200 * 2 ** 20 };

/** A copy of the folder that a program lives in. */
export interface Copy {
  readonly folder: string;
  /** For its temporary files. */
  readonly temporary: string;
  /** A word of the command line: a path in the folder becomes one in the copy. */
  readonly inCopy: (word: string) => string;
  /** Resolves with its state: the same unless a file has changed. */
  readonly look: () => Promise<string>;
  readonly remove: () => Promise<void>;
}

interface Entry {
  readonly path: string;
  readonly kind: "folder" | "file" | "link" | "packages";
}

/** Makes copies of a folder, one for each run. What is installed in it, or above it, is linked. */
export class Copies {
  /** All copies are in this folder. */
  readonly root: string;
  readonly #source: string;
  readonly #entries: readonly Entry[];
  readonly #above: readonly string[];
  #count = 0;

  private constructor(root: string, source: string, found: readonly [readonly Entry[], readonly string[]]) {
    this.root = root;
    this.#source = source;
    [this.#entries, this.#above] = found;
  }

  /** Rejects for a folder that is too large to be copied so often. */
  static async of(folder: string): Promise<Copies> {
    const source = await realpath(folder);
    const entries: Entry[] = [];
    await collect(source, entries);
    const above = await packagesAbove(source);
    return new Copies(await mkdtemp(join(await realpath(tmpdir()), "explore-")), source, [entries, above]);
  }

  /** Makes a copy. Its path has the same length each time: it may stand in what a program writes. */
  async make(): Promise<Copy> {
    this.#count += 1;
    const home = join(this.root, String(this.#count).padStart(5, "0"));
    const temporary = join(home, "tmp");
    await mkdir(temporary, { recursive: true });
    let above = join(home, "in");
    await mkdir(above);
    for (const packages of this.#above) {
      await symlink(packages, join(above, "node_modules"), "junction");
      above = join(above, "in");
      await mkdir(above);
    }
    const folder = join(above, basename(this.#source));
    const inCopy = (path: string): string =>
      path === this.#source || path.startsWith(this.#source + sep) ? join(folder, relative(this.#source, path)) : path;
    await mkdir(folder);
    for (const { path, kind } of this.#entries) {
      if (kind === "folder") await mkdir(inCopy(path));
      else if (kind === "file") await copyFile(path, inCopy(path), constants.COPYFILE_FICLONE);
      else if (kind === "packages") await symlink(path, inCopy(path), "junction");
      else await symlink(inCopy(resolve(dirname(path), await readlink(path))), inCopy(path));
    }
    return { folder, temporary, inCopy, look: () => stateOf(folder), remove: () => removeAll(home) };
  }

  async remove(): Promise<void> {
    await removeAll(this.root);
  }
}

async function stateOf(folder: string): Promise<string> {
  const found = await readdir(folder, { recursive: true });
  const stats = await Promise.all(found.map((name) => lstat(join(folder, name)).catch(() => undefined)));
  return JSON.stringify(found.map((name, at) => [name, stats[at]?.mtimeMs, stats[at]?.size]));
}

/** A program that was killed may still be writing. */
const removeAll = (path: string): Promise<void> => rm(path, { recursive: true, force: true, maxRetries: 5 });

/** The packages of the folders above, the outermost first. */
async function packagesAbove(source: string): Promise<string[]> {
  const parent = dirname(source);
  if (parent === source) return [];
  const packages = join(parent, "node_modules");
  const isThere = await access(packages).then(
    () => true,
    () => false,
  );
  return [...(await packagesAbove(parent)), ...(isThere ? [packages] : [])];
}

/** Collects what is in a folder, each folder in front of what is in it. */
async function collect(folder: string, entries: Entry[], size = { bytes: 0 }): Promise<void> {
  for (const found of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, found.name);
    if (found.name === ".git") continue;
    if (found.name === "node_modules") entries.push({ path, kind: "packages" });
    else if (found.isSymbolicLink()) entries.push({ path, kind: "link" });
    else if (found.isDirectory()) {
      entries.push({ path, kind: "folder" });
      await collect(path, entries, size);
    } else if (found.isFile()) {
      entries.push({ path, kind: "file" });
      size.bytes += (await stat(path)).size;
    }
    if (entries.length > MOST.files || size.bytes > MOST.bytes) {
      throw new Error(
        `${folder} is too large to be copied for each run (more than ${MOST.files} files or ${MOST.bytes / 2 ** 20} MB): name the folder of the program, as in --folder import`,
      );
    }
  }
}
