import { constants, type Dirent } from "node:fs";
import { access, copyFile, lstat, mkdir, mkdtemp, readdir, readlink, realpath, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join, relative, resolve, sep } from "node:path";

const MOST = { files: 5_000, bytes: 200 * 2 ** 20 };

export interface Copy {
  readonly folder: string;
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
  readonly size: number;
  readonly changedAt: number;
}

/** Makes copies of a folder, one for each run. What is installed in it, or above it, is linked. */
export class Copies {
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
    let bytes = 0;
    for await (const entry of walk(source)) {
      entries.push(entry);
      bytes += entry.size;
      if (entries.length > MOST.files || bytes > MOST.bytes) {
        throw new Error(
          `${source} is too large to be copied for each run (more than ${MOST.files} files or ${MOST.bytes / 2 ** 20} MB): name the folder of the program, as in --folder import`,
        );
      }
    }
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
  const entries: Entry[] = [];
  for await (const entry of walk(folder)) entries.push(entry);
  return JSON.stringify(entries);
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

/** The contents of a folder, each folder in front of its own. Links and packages are not followed. */
async function* walk(folder: string): AsyncGenerator<Entry> {
  for (const found of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, found.name);
    const kind = kindOf(found);
    if (kind === undefined) continue;
    const { size = 0, mtimeMs: changedAt = 0 } = kind === "file" ? await lstat(path) : {};
    yield { path, kind, size, changedAt };
    if (kind === "folder") yield* walk(path);
  }
}

function kindOf(found: Dirent): Entry["kind"] | undefined {
  if (found.name === ".git") return undefined;
  if (found.name === "node_modules") return "packages";
  if (found.isSymbolicLink()) return "link";
  if (found.isDirectory()) return "folder";
  return found.isFile() ? "file" : undefined;
}
