/**
 * What a case works with. The suite is written against this alone: no test framework, no API of one platform, so that it
 * runs as it stands wherever the package does.
 */
import type { ClientOptions } from "project-automation";
import type { EmulatorOptions, Fault } from "project-automation/testing";
import { equal } from "./check.ts";

export type Package = typeof import("project-automation");

/** Where platforms may differ, and how this one does. */
export interface Traits {
  /** It is a browser's page or worker: CORS, opaque redirects. */
  readonly isBrowser: boolean;
  /** It shows of a write that no connection was made for it. */
  readonly showsRefusals: boolean;
  /** When a connection that was used before breaks, it sends the request on another by itself, a `POST` too. */
  readonly resends: boolean;
  /** The clock moves while a program computes. */
  readonly movesWhileComputing: boolean;
  /** Its errors have stacks of frames, one a line, which can be cut at a function. */
  readonly hasFrames: boolean;
  /** `structuredClone` of an error takes only what an error has by itself, and reads no accessor of it. */
  readonly clonesErrorsAsSpecified: boolean;
}

/** A copy of the package that shares no module with the one under test. */
export interface Copy {
  readonly name: string;
  readonly pkg: Package;
}

/** What is passed to the service's process as JSON, so it holds no functions. */
export type Setup = Omit<EmulatorOptions, "now" | "random" | "onRequest">;
export type Script = Omit<Fault, "match" | "transform">;

/** A request in the log of an emulator. */
export interface Logged {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  readonly token: string | undefined;
  readonly status: number | undefined;
  readonly outcome: string;
  readonly at: number;
}

/** An emulator's server, in the service's process; one for each case. */
export interface Service {
  readonly baseUrl: string;
  readonly token: string;
  fault(script: Script): Promise<void>;
  createToken(scopes: readonly string[]): Promise<string>;
  /** The requests so far, preflights aside. */
  requests(): Promise<readonly Logged[]>;
  /** As soon as so many requests have come in. */
  arrived(count: number): Promise<void>;
  /** The log, as soon as so many requests have come to their end. */
  ended(count: number): Promise<readonly Logged[]>;
  /** `access-control-request-method` and `-headers` of each preflight. */
  preflights(): Promise<readonly { readonly method: string; readonly headers: string }[]>;
}

export interface Suite {
  readonly pkg: Package;
  readonly testing: typeof import("project-automation/testing");
  readonly copies: readonly Copy[];
  readonly traits: Traits;
  /** What importing the package changed, in words. */
  readonly touched: readonly string[];
  /** Asks the service's process for something. */
  readonly ask: (path: string, question?: object) => Promise<unknown>;
}

/** A suite, as one case sees it; each case has its own. */
export class Bench {
  readonly suite: Suite;
  readonly #waits = new Set<{ readonly what: string }>();

  constructor(suite: Suite) {
    this.suite = suite;
  }

  /** What the case waits for at the moment, in words. */
  get waitsFor(): readonly string[] {
    return [...this.#waits].map(({ what }) => what);
  }

  /** Waits for something that has a name, so that a case that never ends says for what it waits. */
  async until<Value>(what: string, promise: Promise<Value>): Promise<Value> {
    const wait = { what };
    this.#waits.add(wait);
    try {
      return await promise;
    } finally {
      this.#waits.delete(wait);
    }
  }

  async service(setup: Setup = {}): Promise<Service> {
    const ask: Suite["ask"] = (path, question) => this.until(`an answer to ${path}`, this.suite.ask(path, question));
    // What the service's process answers is written next to it, in `service.ts`.
    const { id, baseUrl, token } = (await ask("/emulators", setup)) as Record<"id" | "baseUrl" | "token", string>;
    const act = (name: string, given: object = {}): Promise<unknown> => ask(`/emulators/${id}/${name}`, given);
    return {
      baseUrl,
      token,
      fault: async (script) => void (await act("fault", script)),
      createToken: async (scopes) => (await act("token", { scopes })) as string,
      requests: async () => (await act("requests")) as Logged[],
      arrived: async (count) => void (await act("arrived", { count })),
      ended: async (count) => (await act("ended", { count })) as Logged[],
      preflights: async () => (await act("preflights")) as { method: string; headers: string }[],
    };
  }

  client(service: Service, options: ClientOptions = {}): InstanceType<Package["Client"]> {
    return new this.suite.pkg.Client({ baseUrl: service.baseUrl, token: service.token, ...options });
  }

  /** Short waits between attempts. */
  readonly quick: ClientOptions = { retry: { minDelayMs: 1, maxDelayMs: 1 } };

  /** The error of this package that `call` rejects with, and that it is of the class and kind it should be. */
  async refusal(call: Promise<unknown>, className: ErrorClass): Promise<Refusal> {
    const { pkg } = this.suite;
    const settled = call.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    const error = await this.until(`the ${className} of a call`, settled);
    if (!pkg.isAutomationError(error)) throw new Error(`expected a ${className}, found ${String(error)}`);
    equal(
      { name: error.name, isInstance: error instanceof pkg[className] },
      { name: className, isInstance: true },
      error.message,
    );
    return error;
  }
}

export type ErrorClass = Extract<keyof Package, `${string}Error`>;

/** The fields that errors may have. */
export interface Refusal extends InstanceType<Package["AutomationError"]> {
  readonly phase?: string | undefined;
  readonly issues?: readonly { readonly path: readonly (string | number)[]; readonly message: string }[] | undefined;
  readonly platformCode?: string | undefined;
  readonly limit?: number | undefined;
  readonly remaining?: number | undefined;
}

export interface Case {
  readonly name: string;
  /** The platforms that it runs on. Default: all. */
  readonly where?: (traits: Traits) => boolean;
  /** It keeps the thread from the others, so it runs when they are over. */
  readonly isAlone?: boolean;
  readonly run: (bench: Bench) => Promise<void>;
}
