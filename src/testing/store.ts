import { checkInteger, checkRecord, checkString } from "./checks.ts";
import type { Slice } from "./ordered-rows.ts";
import { OrderedRows } from "./ordered-rows.ts";
import type { Identifiers } from "./random.ts";

/** A project as the emulator holds it. */
export interface EmulatorProject {
  /** Addresses it in paths. */
  readonly id: string;
  /** Addresses it in paths as well. */
  readonly name: string;
}

/** An issue as the emulator holds it; `number` counts from 1 in each project. */
export interface EmulatorIssue {
  /** Counts from 1 in its project. */
  readonly number: number;
  /** As it was given. */
  readonly title: string;
  /** As it was given. */
  readonly type: string;
  /** As it was given, or `conventions.issueStatus`. */
  readonly status: string;
}

/** A session as the emulator holds it; `project` is the id of its project. */
export interface EmulatorSession {
  /** Addresses it in paths. */
  readonly id: string;
  /** The id of its project. */
  readonly project: string;
  /** Any string; only a test changes it. */
  readonly state: string;
}

/** What a project may be created from; a fresh id, and a name that counts up, stand in for what is missing. */
export interface ProjectInput {
  /** Default: a fresh one. */
  readonly id?: string | undefined;
  /** Default: `project-1`, `project-2` and so on. */
  readonly name?: string | undefined;
}

/** What a session may be created from. */
export interface SessionInput {
  /** Default: a fresh one. */
  readonly id?: string | undefined;
  /** Default `conventions.sessionState`. */
  readonly state?: string | undefined;
}

/** What an issue is created from. */
export interface IssueInput {
  /** What it is about. */
  readonly title: string;
  /** Such as `bug`. */
  readonly type: string;
  /** Default `conventions.issueStatus`. */
  readonly status?: string | undefined;
}

/** What changes in an issue; `number` says in which. */
export interface IssueChange {
  /** Which issue of the project. */
  readonly number: number;
  /** Its new title. */
  readonly title?: string | undefined;
  /** Its new type. */
  readonly type?: string | undefined;
  /** Its new status. */
  readonly status?: string | undefined;
}

interface Shelf {
  readonly issues: OrderedRows<EmulatorIssue>;
  readonly sessions: OrderedRows<EmulatorSession>;
  lastNumber: number;
}

/** What a new row holds where its creator does not say. */
export interface StoreDefaults {
  readonly issueStatus: string;
  readonly sessionState: string;
}

/** The projects, issues and sessions of one emulator. Rows are frozen; a change puts a new row in the old one's place. */
export class Store {
  readonly #ids: Identifiers;
  readonly #defaults: StoreDefaults;
  readonly #projects = new OrderedRows<EmulatorProject>();
  readonly #projectIdByName = new Map<string, string>();
  readonly #shelves = new Map<string, Shelf>();
  readonly #projectIdBySession = new Map<string, string>();

  constructor(ids: Identifiers, defaults: StoreDefaults) {
    this.#ids = ids;
    this.#defaults = defaults;
  }

  projects(): EmulatorProject[] {
    return this.#projects.all();
  }

  projectSlice(after: number, limit: number): Slice<EmulatorProject> {
    return this.#projects.slice(after, limit);
  }

  /** By id, else by name: an id wins over a name that looks like it. */
  findProject(nameOrId: string): EmulatorProject | undefined {
    return this.#projects.get(nameOrId) ?? this.#projects.get(this.#projectIdByName.get(nameOrId) ?? "");
  }

  createProject(input: ProjectInput = {}): EmulatorProject {
    const given = checkRecord("project", input, ["id", "name"]);
    const id = given["id"] === undefined ? `prj_${this.#ids.next(12)}` : checkString("project.id", given["id"]);
    const name = given["name"] === undefined ? this.#nextProjectName() : checkString("project.name", given["name"]);
    if (this.#projects.has(id)) throw new TypeError(`there is a project with the id "${id}" already`);
    this.#claimName(name);
    this.#shelves.set(id, { issues: new OrderedRows(), sessions: new OrderedRows(), lastNumber: 0 });
    return this.#putProject({ id, name });
  }

  renameProject(nameOrId: string, name: string): EmulatorProject {
    const project = this.#project(nameOrId);
    if (project.name === name) return project;
    this.#claimName(checkString("project.name", name));
    this.#projectIdByName.delete(project.name);
    return this.#putProject({ id: project.id, name });
  }

  /** With its issues and sessions. */
  deleteProject(nameOrId: string): void {
    const { id, name } = this.#project(nameOrId);
    for (const session of this.#shelf(id).sessions.all()) this.#projectIdBySession.delete(session.id);
    this.#shelves.delete(id);
    this.#projectIdByName.delete(name);
    this.#projects.delete(id);
  }

  issues(project: string): EmulatorIssue[] {
    return this.#shelf(project).issues.all();
  }

  createIssue(project: string, input: IssueInput): EmulatorIssue {
    const given = checkRecord("issue", input, ["title", "type", "status"]);
    const shelf = this.#shelf(project);
    const number = shelf.lastNumber + 1;
    const issue = Object.freeze({
      number,
      title: checkString("issue.title", given["title"]),
      type: checkString("issue.type", given["type"]),
      status: checkString("issue.status", given["status"] ?? this.#defaults.issueStatus),
    });
    shelf.lastNumber = number;
    shelf.issues.set(String(number), issue);
    return issue;
  }

  updateIssue(project: string, change: IssueChange): EmulatorIssue {
    const given = checkRecord("issue", change, ["number", "title", "type", "status"]);
    const { issues } = this.#shelf(project);
    const number = checkInteger("issue.number", given["number"], { min: 1 });
    const issue = issues.get(String(number));
    if (issue === undefined) throw new TypeError(`there is no issue ${number} in project "${project}"`);
    const updated = Object.freeze({
      number,
      title: checkString("issue.title", given["title"] ?? issue.title),
      type: checkString("issue.type", given["type"] ?? issue.type),
      status: checkString("issue.status", given["status"] ?? issue.status),
    });
    issues.set(String(number), updated);
    return updated;
  }

  sessions(project: string): EmulatorSession[] {
    return this.#shelf(project).sessions.all();
  }

  sessionSlice(project: string, range: { readonly after: number; readonly limit: number }): Slice<EmulatorSession> {
    return this.#shelf(project).sessions.slice(range.after, range.limit);
  }

  findSession(id: string): EmulatorSession | undefined {
    const project = this.#projectIdBySession.get(id);
    return project === undefined ? undefined : this.#shelf(project).sessions.get(id);
  }

  createSession(project: string, input: SessionInput = {}): EmulatorSession {
    const given = checkRecord("session", input, ["id", "state"]);
    const owner = this.#project(project).id;
    const id = given["id"] === undefined ? `ses_${this.#ids.next(12)}` : checkString("session.id", given["id"]);
    if (this.#projectIdBySession.has(id)) throw new TypeError(`there is a session with the id "${id}" already`);
    const state = checkString("session.state", given["state"] ?? this.#defaults.sessionState);
    this.#projectIdBySession.set(id, owner);
    return this.#putSession({ id, project: owner, state });
  }

  setSessionState(id: string, state: string): EmulatorSession {
    return this.#putSession({ ...this.#session(id), state: checkString("session.state", state) });
  }

  deleteSession(id: string): void {
    this.#shelf(this.#session(id).project).sessions.delete(id);
    this.#projectIdBySession.delete(id);
  }

  #putProject(project: EmulatorProject): EmulatorProject {
    const row = Object.freeze(project);
    this.#projects.set(row.id, row);
    this.#projectIdByName.set(row.name, row.id);
    return row;
  }

  #putSession(session: EmulatorSession): EmulatorSession {
    const row = Object.freeze(session);
    this.#shelf(row.project).sessions.set(row.id, row);
    return row;
  }

  #claimName(name: string): void {
    if (this.#projectIdByName.has(name)) throw new TypeError(`there is a project named "${name}" already`);
  }

  #nextProjectName(): string {
    let count = this.#projects.size + 1;
    while (this.#projectIdByName.has(`project-${count}`)) count += 1;
    return `project-${count}`;
  }

  #project(nameOrId: string): EmulatorProject {
    const project = this.findProject(nameOrId);
    if (project === undefined) throw new TypeError(`there is no project with the name or id "${nameOrId}"`);
    return project;
  }

  #session(id: string): EmulatorSession {
    const session = this.findSession(id);
    if (session === undefined) throw new TypeError(`there is no session with the id "${id}"`);
    return session;
  }

  #shelf(project: string): Shelf {
    const shelf = this.#shelves.get(this.#project(project).id);
    if (shelf === undefined) throw new TypeError(`there is no project with the name or id "${project}"`);
    return shelf;
  }
}
