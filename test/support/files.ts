/** Files of a user as a program finds them, and proof that it has left them as they were. */
import { execFileSync } from "node:child_process";
import { lstatSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * All that can change of a file. The time of its change (`ctime`) moves with every write, truncation and `chmod`, also with
 * one that is undone.
 */
export function factsOf(path: string): object {
  const found = lstatSync(path, { bigint: true });
  const { ino, mode, nlink, uid, gid, size, mtimeNs, ctimeNs } = found;
  const content = found.isFile() ? readFileSync(path, "latin1") : undefined;
  return { ino, mode, nlink, uid, gid, size, mtimeNs, ctimeNs, content };
}

/** Makes a file of a kind, and returns what takes it away where removing its folder does not. */
type Make = (path: string) => Promise<() => void> | (() => void);

const nothing = (): void => {};

function mknod(path: string, ...kind: string[]): () => void {
  execFileSync("mknod", ["-m", "666", path, ...kind], { stdio: "pipe" });
  return nothing;
}

/** The numbers are those of `/dev/null`; the node is the test's own. */
const DEVICE = ["c", "1", "3"];

/** Only a privileged process may make a device node, and not in every container. */
function mayMakeDevices(): boolean {
  const folder = mkdtempSync(join(tmpdir(), "mknod-"));
  try {
    mknod(join(folder, "device"), ...DEVICE);
    return true;
  } catch {
    return false;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** What is no regular file, by the word for it. */
export const NO_REGULAR_FILES: readonly (readonly [what: string, make: Make])[] = [
  [
    "a folder",
    (path) => {
      mkdirSync(path);
      return nothing;
    },
  ],
  ...(process.platform === "win32"
    ? []
    : ([
        ["a FIFO", (path) => mknod(path, "p")],
        [
          "a socket",
          async (path) => {
            const server = createServer();
            await new Promise<void>((resolve) => void server.listen(path, resolve));
            return () => void server.close();
          },
        ],
      ] satisfies [string, Make][])),
  ...(mayMakeDevices() ? ([["a device", (path) => mknod(path, ...DEVICE)]] satisfies [string, Make][]) : []),
];
