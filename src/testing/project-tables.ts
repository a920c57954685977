import { check, integer, required, TEXT } from "./checks.ts";
import { OrderedRows } from "./ordered-rows.ts";
import type { Identifiers } from "./random.ts";
import type { EmulatorIssue, EmulatorProject, EmulatorSession, EmulatorTables } from "./tables.ts";

/** A project with what is in it. Rows are frozen; a change puts a new row in the old one's place. */
export interface ProjectData {
  project: EmulatorProject;
  readonly issues: OrderedRows<EmulatorIssue>;
  readonly sessions: OrderedRows<EmulatorSession>;
}

/** All projects of an emulator, with what they are found by. */
export class ProjectStore {
  readonly byId: OrderedRows<ProjectData> = new OrderedRows();
  readonly byName: Map<string, ProjectData> = new Map();
  readonly bySession: Map<string, ProjectData> = new Map();

  /** By id, else by name: an id wins over an equal name. */
  find(nameOrId: string): ProjectData | undefined {
    return this.byId.get(nameOrId) ?? this.byName.get(nameOrId);
  }

  findSession(id: string): EmulatorSession | undefined {
    return this.bySession.get(id)?.sessions.get(id);
  }
}

/** What the tables of projects need of the emulator. `ids` and `store` belong to the current state. */
export interface ProjectSource {
  readonly state: () => { readonly ids: Identifiers; readonly store: ProjectStore };
  readonly issueStatus: string;
  readonly sessionState: string;
}

const PROJECT = { id: TEXT, name: TEXT };
const SESSION = { id: TEXT, state: TEXT };
const ISSUE = { title: required(TEXT), type: required(TEXT), status: TEXT };
const ISSUE_CHANGE = { number: required(integer(1)), title: TEXT, type: TEXT, status: TEXT };

/** The public tables of projects and of what is in them. */
export function createProjectTables(source: ProjectSource): Pick<EmulatorTables, "projects" | "issues" | "sessions"> {
  const { state, issueStatus, sessionState } = source;
  const dataOf = (nameOrId: string): ProjectData =>
    state().store.find(nameOrId) ?? check.fail(`there is no project with the name or id "${nameOrId}"`);
  const rename = (data: ProjectData, project: EmulatorProject): EmulatorProject => {
    const { byName } = state().store;
    if (byName.has(project.name)) check.fail(`there is a project with the name "${project.name}" already`);
    byName.delete(data.project.name);
    byName.set(project.name, data);
    data.project = Object.freeze(project);
    return project;
  };
  const sessionsOf = (id: string): OrderedRows<EmulatorSession> =>
    state().store.bySession.get(id)?.sessions ?? check.fail(`there is no session with the id "${id}"`);

  return {
    projects: {
      list: () =>
        state()
          .store.byId.all()
          .map(({ project }) => project),
      get: (project) => state().store.find(project)?.project,
      create: (input) => {
        const given = check.options(input, "project", PROJECT);
        const { ids, store } = state();
        const project = { id: given.id ?? `prj_${ids.next(12)}`, name: given.name ?? nextName(store) };
        if (store.byId.get(project.id)) check.fail(`there is a project with the id "${project.id}" already`);
        const data = {
          project,
          issues: new OrderedRows<EmulatorIssue>(),
          sessions: new OrderedRows<EmulatorSession>(),
        };
        rename(data, project);
        store.byId.set(project.id, data);
        return project;
      },
      update: (nameOrId, change) => {
        const { name } = check.options(change, "project", { name: required(TEXT) });
        const data = dataOf(nameOrId);
        return name === data.project.name ? data.project : rename(data, { id: data.project.id, name });
      },
      delete: (nameOrId) => {
        const { project, sessions } = dataOf(nameOrId);
        const { byId, byName, bySession } = state().store;
        for (const { id } of sessions.all()) bySession.delete(id);
        byName.delete(project.name);
        byId.delete(project.id);
      },
    },
    issues: {
      list: (project) => dataOf(project).issues.all(),
      create: (project, input) => {
        const given = check.options(input, "issue", ISSUE);
        const { issues } = dataOf(project);
        const number = issues.size + 1; // issues are never deleted
        return issues.set(`${number}`, Object.freeze({ status: issueStatus, ...given, number }));
      },
      update: (project, change) => {
        const given = check.options(change, "issue", ISSUE_CHANGE);
        const { issues } = dataOf(project);
        const number = `${given.number}`;
        const issue = issues.get(number) ?? check.fail(`there is no issue ${number} in project "${project}"`);
        return issues.set(number, Object.freeze({ ...issue, ...given }));
      },
    },
    sessions: {
      list: (project) => {
        const all = project === undefined ? state().store.byId.all() : [dataOf(project)];
        return all.flatMap(({ sessions }) => sessions.all());
      },
      get: (id) => state().store.findSession(id),
      create: (project, input) => {
        const given = check.options(input, "session", SESSION);
        const { ids, store } = state();
        const data = dataOf(project);
        const id = given.id ?? `ses_${ids.next(12)}`;
        if (store.bySession.has(id)) check.fail(`there is a session with the id "${id}" already`);
        store.bySession.set(id, data);
        const session = { id, project: data.project.id, state: given.state ?? sessionState };
        return data.sessions.set(id, Object.freeze(session));
      },
      update: (id, change) => {
        const { state: next } = check.options(change, "session", { state: required(TEXT) });
        const sessions = sessionsOf(id);
        const session = sessions.get(id) ?? check.fail(`there is no session with the id "${id}"`);
        return sessions.set(id, Object.freeze({ ...session, state: next }));
      },
      delete: (id) => {
        sessionsOf(id).delete(id);
        state().store.bySession.delete(id);
      },
    },
  };
}

function nextName({ byId, byName }: ProjectStore): string {
  let count = byId.size + 1;
  while (byName.has(`project-${count}`)) count += 1;
  return `project-${count}`;
}
