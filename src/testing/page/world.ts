import type { EmulatorTables } from "../emulator.ts";
import type { ActiveFault, Fault } from "../faults.ts";
import type { RateLimiter } from "../rate-limit.ts";
import type { PageFault, PageTable, PageWorld } from "./events.ts";

/** More rows of a table would hide the newest. */
const SHOWN = 100;
/** Issues of each project. */
const SHOWN_ISSUES = 20;

function newest<Row>(rows: readonly Row[]): PageTable<Row> {
  return { count: rows.length, newest: rows.slice(-SHOWN) };
}

/** The state of the emulator, as far as a page can show it. */
export function worldOf(
  { projects, issues, sessions, tokens }: EmulatorTables,
  limiter: RateLimiter,
  now: number,
): PageWorld {
  const counted = new Map<string, { issues: number; sessions: number }>();
  const allSessions = sessions.list();
  for (const { project } of allSessions) {
    const counts = counted.get(project) ?? { issues: 0, sessions: 0 };
    counts.sessions += 1;
    counted.set(project, counts);
  }
  let issueCount = 0;
  const allProjects = projects.list().map((project) => {
    const rows = issues.list(project.id);
    issueCount += rows.length;
    const shown = rows.slice(-SHOWN_ISSUES).map((issue) => ({ ...issue, project: project.name }));
    return { row: { ...project, issues: rows.length, sessions: counted.get(project.id)?.sessions ?? 0 }, shown };
  });
  return {
    projects: newest(allProjects.map(({ row }) => row)),
    issues: { count: issueCount, newest: allProjects.flatMap(({ shown }) => shown).slice(-SHOWN) },
    sessions: newest(allSessions.map(({ id, state, project }) => ({ id, state, project }))),
    tokens: newest(
      tokens.list().map(({ id, name, scopes, owner, state, expires_at }) => {
        return { id, name, scopes, owner, state, expires_at, window: limiter.windowOf(id, now) };
      }),
    ),
  };
}

/** The faults that wait. */
export function waitingFaults(active: Iterable<ActiveFault>): PageFault[] {
  return Array.from(active)
    .filter(({ fault, hits }) => hits < (fault.times ?? 1))
    .map(({ fault, hits }) => {
      const { operation, times = 1 } = fault;
      const operations = operation === undefined ? undefined : [operation].flat();
      return { does: effectOf(fault), operations, hits, times: times === Infinity ? null : times };
    });
}

function effectOf(fault: Fault): string {
  const { status, apply, drop, delayMs, cutAfterBytes, stallAfterBytes, page, body, headers, transform } = fault;
  const effects: readonly (readonly [unknown, string])[] = [
    [drop, `drop ${drop} the operation`],
    [status, `respond ${status}${apply ? " after the operation" : ""}`],
    [page, `page ${page}`],
    [cutAfterBytes, `cut after ${cutAfterBytes} bytes`],
    [stallAfterBytes, `stall after ${stallAfterBytes} bytes`],
    [body, "another body"],
    [headers, "other headers"],
    [transform, "a changed body"],
    [delayMs || undefined, delayMs === Infinity ? "never respond" : `respond ${delayMs} ms late`],
  ];
  return effects.flatMap(([value, words]) => (value === undefined ? [] : [words])).join(", ");
}
