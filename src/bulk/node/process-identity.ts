import { createHash } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { hasCode } from "../../core/checks/values.ts";

/** A process, as its lock file names it; a worker thread counts as one, since it can end by itself. */
export interface ProcessIdentity {
  /** Where process ids mean the same: a hash of host, boot and process namespace. */
  readonly place: string;
  /** On Linux that of the thread, which the kernel numbers like a process; for the main thread they are the same. */
  readonly pid: number;
  /** When it started, in ticks since the boot, so that a reused process id is recognised; `"0"`: not known. */
  readonly startedAt: string;
}

type Life = "alive" | "dead" | "not_known";

export function ownIdentity(): ProcessIdentity {
  const place = placeOfProcesses();
  const [pid, , thread] =
    attempt(() => readlinkSync("/proc/thread-self"))
      ?.split("/")
      .map(Number) ?? [];
  // If `/proc` numbers the process in another way, or is not there, nothing can be asked of it.
  if (pid !== process.pid || thread === undefined) return { place, pid: process.pid, startedAt: "0" };
  return { place, pid: thread, startedAt: statusOf(thread)?.startedAt ?? "0" };
}

export function lifeOf(other: ProcessIdentity, own: ProcessIdentity): Life {
  if (other.place !== own.place) return "not_known";
  if (!exists(other.pid)) return "dead";
  const status = statusOf(other.pid);
  // Without the start, it may be another process with the same id.
  if (status === undefined || other.startedAt === "0") return "not_known";
  return status.startedAt === other.startedAt && status.state !== ZOMBIE ? "alive" : "dead";
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !hasCode(error, "ESRCH");
  }
}

/** The state of a process that has ended and keeps its id, since its parent has not waited for it. */
const ZOMBIE = "Z";

/** Linux alone says so. */
function statusOf(pid: number): { readonly state: string | undefined; readonly startedAt: string } | undefined {
  const stat = attempt(() => readFileSync(`/proc/${pid}/stat`, "utf8"));
  // The second field is the name of the program, in parentheses, which may hold anything; the start is the 22nd.
  const fields = stat?.slice(stat.lastIndexOf(")") + 2).split(" ") ?? [];
  const startedAt = fields[19];
  return startedAt === undefined ? undefined : { state: fields[0], startedAt };
}

function placeOfProcesses(): string {
  const boot = attempt(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8"));
  const namespace = attempt(() => readlinkSync("/proc/self/ns/pid"));
  const parts = [hostname(), boot?.trim(), namespace];
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 12);
}

function attempt(read: () => string): string | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
