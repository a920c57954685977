import { checkInteger, checkRecord, checkString, checkStrings } from "./checks.ts";
import type { ResolvedOptions } from "./options.ts";
import type {
  EmulatorIssue,
  EmulatorProject,
  EmulatorSession,
  IssueChange,
  IssueInput,
  ProjectInput,
  SessionInput,
} from "./store.ts";
import type { CreatedEmulatorToken, EmulatorOwner, EmulatorToken, ScopeName } from "./tokens.ts";
import { DEFAULT_OWNER, maskedToken } from "./tokens.ts";
import type { World } from "./world.ts";

/** The projects. `project` is an id or a name everywhere; an unknown one is a `TypeError`, except in `get`. */
export interface ProjectTable {
  /** In the order of creation. */
  list(): EmulatorProject[];
  /** `undefined` where there is none. */
  get(project: string): EmulatorProject | undefined;
  /** A name or id that is taken is a `TypeError`. */
  create(project?: ProjectInput): EmulatorProject;
  /** Renames. The id stays. */
  update(project: string, change: { readonly name: string }): EmulatorProject;
  /** With its issues and sessions. */
  delete(project: string): void;
}

/** The issues of a project. */
export interface IssueTable {
  /** Those of one project, by number. */
  list(project: string): EmulatorIssue[];
  /** With the next number. Types are not checked here. */
  create(project: string, issue: IssueInput): EmulatorIssue;
  /** Changes what is given; an unknown number is a `TypeError`. */
  update(project: string, change: IssueChange): EmulatorIssue;
}

/** The sessions. States are any strings: the contract names none. */
export interface SessionTable {
  /** Those of one project, or all. */
  list(project?: string): EmulatorSession[];
  /** `undefined` where there is none. */
  get(id: string): EmulatorSession | undefined;
  /** An id that is taken is a `TypeError`. */
  create(project: string, session?: SessionInput): EmulatorSession;
  /** Changes its state: what `sessions.watch` and `waitFor` see next. */
  update(id: string, change: { readonly state: string }): EmulatorSession;
  /** From then on it is not found. */
  delete(id: string): void;
}

/** The tokens, as masked records, revoked and expired ones included. */
export interface TokenTable {
  /** In the order of creation. */
  list(): EmulatorToken[];
  /** `undefined` where there is none. */
  get(id: string): EmulatorToken | undefined;
}

/** Those who own tokens. */
export interface OwnerTable {
  /** In the order of creation. */
  list(): EmulatorOwner[];
  /** `undefined` where there is none. */
  get(id: string): EmulatorOwner | undefined;
  /** With every permission, unless told otherwise. */
  create(owner?: {
    readonly id?: string | undefined;
    readonly permissions?: readonly ScopeName[] | undefined;
  }): EmulatorOwner;
  /** Takes effect with the next request. */
  update(id: string, change: { readonly permissions: readonly ScopeName[] }): EmulatorOwner;
}

/** What `createToken` makes a token from. */
export interface TokenInput {
  /** Any strings: nobody's scopes are checked here. */
  readonly scopes: readonly ScopeName[];
  /** Default `"test"`. */
  readonly name?: string | undefined;
  /** Default as over the wire: `conventions.tokenLifetimeDays`. */
  readonly expires_in_days?: number | undefined;
  /** The id of its owner. Default `"owner"`, to whom `emulator.token` belongs. */
  readonly owner?: string | undefined;
  /** Makes a new owner with just these permissions, in place of `owner`. */
  readonly permissions?: readonly ScopeName[] | undefined;
}

/** The state of an emulator, to look at and to change. Takes effect at once, needs no token, and is not in the log. */
export interface EmulatorTables {
  /** Projects. */
  readonly projects: ProjectTable;
  /** Issues of projects. */
  readonly issues: IssueTable;
  /** Sessions, and their states. */
  readonly sessions: SessionTable;
  /** Records of tokens; `createToken` makes one. */
  readonly tokens: TokenTable;
  /** Owners of tokens, and what they may do. */
  readonly owners: OwnerTable;
  /** Mints a token. Over the wire, its creator would have to hold its scopes. */
  createToken(token: TokenInput): CreatedEmulatorToken;
  /** Secret scanning: revokes every token whose plaintext stands in `text`, and returns their masked records. */
  leak(text: string): EmulatorToken[];
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** The tables over whatever world is current. */
export function createTables(world: () => World, options: ResolvedOptions): EmulatorTables {
  const masked = (id: string): EmulatorToken | undefined => {
    const row = world().tokens.find(id);
    return row && maskedToken(row, world().tokens.stateOf(row, options.now()));
  };
  const records = (rows: readonly { readonly id: string }[]): EmulatorToken[] =>
    rows.flatMap((row) => masked(row.id) ?? []);
  return {
    projects: projectTable(world),
    issues: {
      list: (project) => world().store.issues(project),
      create: (project, issue) => world().store.createIssue(project, issue),
      update: (project, change) => world().store.updateIssue(project, change),
    },
    sessions: sessionTable(world),
    tokens: { list: () => records(world().tokens.tokens()), get: masked },
    owners: {
      list: () => world().tokens.owners(),
      get: (id) => world().tokens.findOwner(id),
      create: (owner = {}) => {
        checkRecord("owner", owner, ["id", "permissions"]);
        return world().tokens.createOwner(owner.id, owner.permissions);
      },
      update: (id, change) => {
        checkRecord("owner", change, ["permissions"]);
        return world().tokens.setPermissions(id, change.permissions);
      },
    },
    createToken: (token) => createToken(world(), options, token),
    leak: (text) => records(world().tokens.leak(text)),
  };
}

function projectTable(world: () => World): ProjectTable {
  return {
    list: () => world().store.projects(),
    get: (project) => world().store.findProject(project),
    create: (project) => world().store.createProject(project),
    update: (project, change) => {
      checkRecord("project", change, ["name"]);
      return world().store.renameProject(project, change.name);
    },
    delete: (project) => world().store.deleteProject(project),
  };
}

function sessionTable(world: () => World): SessionTable {
  return {
    list: (project) => {
      const { store } = world();
      if (project !== undefined) return store.sessions(project);
      return store.projects().flatMap(({ id }) => store.sessions(id));
    },
    get: (id) => world().store.findSession(id),
    create: (project, session) => world().store.createSession(project, session),
    update: (id, change) => {
      checkRecord("session", change, ["state"]);
      return world().store.setSessionState(id, change.state);
    },
    delete: (id) => world().store.deleteSession(id),
  };
}

function createToken({ tokens }: World, options: ResolvedOptions, input: TokenInput): CreatedEmulatorToken {
  checkRecord("token", input, ["scopes", "name", "expires_in_days", "owner", "permissions"]);
  if (input.owner !== undefined && input.permissions !== undefined) {
    throw new TypeError("token: owner and permissions contradict each other");
  }
  const scopes = checkStrings("token.scopes", input.scopes);
  const name = checkString("token.name", input.name ?? "test");
  const fallback = options.conventions.tokenLifetimeDays;
  const days = checkInteger("token.expires_in_days", input.expires_in_days, { min: 1, max: 1_000_000, fallback });
  const owner = input.permissions && tokens.createOwner(undefined, input.permissions).id;
  const spec = { name, scopes, owner: owner ?? input.owner ?? DEFAULT_OWNER, lifetimeMs: days * DAY_MS };
  const created = tokens.create(spec, options.now());
  return { ...maskedToken(created.row, "active"), plaintext: created.plaintext };
}
