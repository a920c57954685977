import type { ActiveFault, Fault } from "../emulator/faults.ts";
import type { ProjectData } from "../emulator/project-tables.ts";
import type { State } from "../emulator/state.ts";
import { maskedToken } from "../emulator/token-tables.ts";
import type { PageFault, PageTable, PageWorld } from "./events.ts";

/** More rows of a table would hide the newest. */
const SHOWN = 100;

function newest<Row>(rows: readonly Row[]): PageTable<Row> {
  return { count: rows.length, newest: rows.slice(-SHOWN) };
}

export function worldOf({ store, tokens, limiter }: State, now: number): PageWorld {
  const all = store.byId.all();
  const projects = newest(all);
  const sessions = newest([...store.bySession.keys()]);
  const allTokens = newest([...tokens.rows.values()]);
  return {
    projects: { ...projects, newest: projects.newest.map(projectRow) },
    issues: { count: all.reduce((sum, { issues }) => sum + issues.size, 0), newest: newestIssues(all) },
    sessions: { ...sessions, newest: sessions.newest.flatMap((id) => sessionRow(store.bySession.get(id), id)) },
    tokens: {
      ...allTokens,
      newest: allTokens.newest.map((row) => {
        const { id, name, scopes, owner, state, expires_at } = maskedToken(row, now);
        return { id, name, scopes, owner, state, expires_at, window: limiter.windowOf(id, now) };
      }),
    },
  };
}

function projectRow({ project, issues, sessions }: ProjectData): PageWorld["projects"]["newest"][number] {
  return { ...project, issues: issues.size, sessions: sessions.size };
}

function sessionRow(data: ProjectData | undefined, id: string): PageWorld["sessions"]["newest"] {
  const session = data?.sessions.get(id);
  return data === undefined || session === undefined ? [] : [{ id, state: session.state, project: data.project.name }];
}

/** The issues that were created last, in whichever project, oldest first. */
function newestIssues(all: readonly ProjectData[]): PageWorld["issues"]["newest"] {
  return all
    .flatMap(({ project, issues, issuePlaces }) =>
      issuePlaces.slice(-SHOWN).map((place, index, { length }) => {
        return { place, project: project.name, issue: issues.get(`${issues.size - length + index + 1}`) };
      }),
    )
    .sort((one, other) => one.place - other.place)
    .slice(-SHOWN)
    .flatMap(({ issue, project }) => (issue === undefined ? [] : [{ ...issue, project }]));
}

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
