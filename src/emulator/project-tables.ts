import { required } from "../core/checks/validators.ts";
import { check, integer, TEXT, TEXTS } from "./checks.ts";
import { OrderedRows } from "./ordered-rows.ts";
import type { MakeId } from "./random.ts";
import type {
  EmulatorIssue,
  EmulatorProject,
  EmulatorSession,
  IssueChange,
  IssueInput,
  ProjectInput,
  SessionInput,
} from "./tables.ts";

/** A project with what is in it. Rows are frozen; a change puts a new row in the old one's place. */
export interface ProjectData {
  project: EmulatorProject;
  readonly issues: OrderedRows<EmulatorIssue>;
  readonly sessions: OrderedRows<EmulatorSession>;
  /** The place of each of its issues among those of all projects, in the order of their numbers. */
  readonly issuePlaces: number[];
}

export class ProjectStore {
  readonly byId: OrderedRows<ProjectData> = new OrderedRows();
  readonly byName: Map<string, ProjectData> = new Map();
  readonly bySession: Map<string, ProjectData> = new Map();
  /** Issues that were ever created, those of deleted projects included. */
  issueCount = 0;

  /** By id, else by name: an id wins over an equal name. */
  find(nameOrId: string): ProjectData | undefined {
    return this.byId.get(nameOrId) ?? this.byName.get(nameOrId);
  }

  get(nameOrId: string): ProjectData {
    return this.find(nameOrId) ?? check.fail(`there is no project with the name or id "${nameOrId}"`);
  }

  name(data: ProjectData, project: EmulatorProject): void {
    if (this.byName.has(project.name)) check.fail(`there is a project with the name "${project.name}" already`);
    this.byName.delete(data.project.name);
    this.byName.set(project.name, data);
    this.byId.set(project.id, data);
    data.project = Object.freeze(project);
  }

  findSession(id: string): EmulatorSession | undefined {
    return this.bySession.get(id)?.sessions.get(id);
  }
}

interface ProjectSource {
  readonly state: () => { readonly makeId: MakeId; readonly store: ProjectStore };
  readonly issueStatus: string;
  readonly sessionState: string;
  readonly sessionStates: readonly string[];
}

/** The projects. `project` is an id or a name everywhere; an unknown one is a `TypeError`, except in `get`. */
export class ProjectTable {
  readonly #state: ProjectSource["state"];

  /** @internal Not for callers: the emulator makes it. */
  constructor({ state }: ProjectSource) {
    this.#state = state;
  }

  /** In the order of creation. */
  readonly list = (): EmulatorProject[] =>
    this.#state()
      .store.byId.all()
      .map(({ project }) => project);

  /** Returns `undefined` if there is none. */
  readonly get = (project: string): EmulatorProject | undefined => this.#state().store.find(project)?.project;

  /** Throws a `TypeError` if the name or id is taken. */
  readonly create = (input?: ProjectInput): EmulatorProject => {
    const given = check.options(input, "project", { id: TEXT, name: TEXT });
    const { makeId, store } = this.#state();
    const project = { id: given.id ?? `prj_${makeId(12)}`, name: given.name ?? nextName(store) };
    if (store.byId.get(project.id)) check.fail(`there is a project with the id "${project.id}" already`);
    store.name({ project, issues: new OrderedRows(), sessions: new OrderedRows(), issuePlaces: [] }, project);
    return project;
  };

  /** Renames. The id stays. */
  readonly update = (project: string, change: { readonly name: string }): EmulatorProject => {
    const { name } = check.options(change, "project", { name: required(TEXT) });
    const { store } = this.#state();
    const data = store.get(project);
    if (name !== data.project.name) store.name(data, { id: data.project.id, name });
    return data.project;
  };

  /** Deletes its issues and sessions, too. */
  readonly delete = (project: string): void => {
    const { store } = this.#state();
    const data = store.get(project);
    for (const { id } of data.sessions.all()) store.bySession.delete(id);
    store.byName.delete(data.project.name);
    store.byId.delete(data.project.id);
  };
}

const ISSUE = { title: required(TEXT), type: required(TEXT), status: TEXT };
const ISSUE_CHANGE = { number: required(integer(1)), title: TEXT, type: TEXT, status: TEXT };

/** The issues of a project. */
export class IssueTable {
  readonly #source: ProjectSource;

  /** @internal Not for callers: the emulator makes it. */
  constructor(source: ProjectSource) {
    this.#source = source;
  }

  /** The issues of one project, by number. */
  readonly list = (project: string): EmulatorIssue[] => this.#source.state().store.get(project).issues.all();

  /** With the next number. `conventions.issueTypes` is not checked here. */
  readonly create = (project: string, issue: IssueInput): EmulatorIssue => {
    const given = check.options(issue, "issue", ISSUE);
    const { store } = this.#source.state();
    const { issues, issuePlaces } = store.get(project);
    const number = issues.size + 1; // issues are never deleted
    issuePlaces.push(++store.issueCount);
    return issues.set(`${number}`, Object.freeze({ status: this.#source.issueStatus, ...given, number }));
  };

  /** Changes what is passed; an unknown number is a `TypeError`. */
  readonly update = (project: string, change: IssueChange): EmulatorIssue => {
    const given = check.options(change, "issue", ISSUE_CHANGE);
    const { issues } = this.#source.state().store.get(project);
    const number = `${given.number}`;
    const issue = issues.get(number) ?? check.fail(`there is no issue ${number} in project "${project}"`);
    return issues.set(number, Object.freeze({ ...issue, ...given }));
  };
}

/** The sessions. States are any strings: the API documentation names none. */
export class SessionTable {
  readonly #source: ProjectSource;

  /** @internal Not for callers: the emulator makes it. */
  constructor(source: ProjectSource) {
    this.#source = source;
  }

  /** The sessions of one project, or all. */
  readonly list = (project?: string): EmulatorSession[] => {
    const { store } = this.#source.state();
    const all = project === undefined ? store.byId.all() : [store.get(project)];
    return all.flatMap(({ sessions }) => sessions.all());
  };

  /** Returns `undefined` if there is none. */
  readonly get = (id: string): EmulatorSession | undefined => this.#source.state().store.findSession(id);

  /** Throws a `TypeError` if the id is taken. */
  readonly create = (project: string, input?: SessionInput): EmulatorSession => {
    const given = check.options(input, "session", { id: TEXT, state: TEXT, states: TEXTS });
    const { sessionState, sessionStates } = this.#source;
    const { makeId, store } = this.#source.state();
    const data = store.get(project);
    const id = given.id ?? `ses_${makeId(12)}`;
    if (store.bySession.has(id)) check.fail(`there is a session with the id "${id}" already`);
    store.bySession.set(id, data);
    const states = Object.freeze([...(given.states ?? sessionStates)]);
    const session = { id, project: data.project.id, state: given.state ?? states[0] ?? sessionState, states };
    return data.sessions.set(id, Object.freeze(session));
  };

  /** Changes its state: what `sessions.watch` and `waitFor` see next. */
  readonly update = (id: string, change: { readonly state: string }): EmulatorSession => {
    const { state } = check.options(change, "session", { state: required(TEXT) });
    const session = this.get(id) ?? check.fail(`there is no session with the id "${id}"`);
    return this.#source
      .state()
      .store.get(session.project)
      .sessions.set(id, Object.freeze({ ...session, state }));
  };

  /** From then on it is not found. */
  readonly delete = (id: string): void => {
    const session = this.get(id) ?? check.fail(`there is no session with the id "${id}"`);
    const { store } = this.#source.state();
    store.get(session.project).sessions.delete(id);
    store.bySession.delete(id);
  };
}

function nextName({ byId, byName }: ProjectStore): string {
  let count = byId.size + 1;
  while (byName.has(`project-${count}`)) count += 1;
  return `project-${count}`;
}
