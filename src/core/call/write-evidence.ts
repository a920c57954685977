import { ignoreErrors } from "../checks/ignore-errors.ts";
import { hasMethods } from "../checks/values.ts";
import type { RequestEvidence } from "../errors/connection-fault.ts";
import { causesOf } from "../errors/explanation.ts";
import { isWrite } from "../wire/method.ts";

// "Never sent" is a statement about one request, so it needs evidence about that request. Node publishes what undici does
// with each of them, that of its own `fetch` and that of npm, on diagnostics channels, as `node:http` does. They are listened to while a write
// is under way, and at no other time.

/** A request of undici, as its channels show it (https://undici.nodejs.org, "Diagnostics Channel Support"), or of `node:http`. */
interface PlatformRequest {
  readonly method: string;
  readonly origin: unknown;
  readonly path: string;
  /** Of `node:http`: it was sent on a kept connection. */
  readonly reusedSocket?: boolean;
}

/** A message of the channels; `error` is there where the request failed. */
interface Message {
  readonly request: PlatformRequest;
  readonly error?: unknown;
}

/** The part of Node that is needed. */
interface NodeModules {
  /** Only Node itself has undici. What Bun and Deno publish on these channels, they may publish when a write has left. */
  readonly versions: { readonly undici?: string | undefined };
  getBuiltinModule(name: "diagnostics_channel"): {
    subscribe(channel: string, listener: (message: unknown) => void): void;
    unsubscribe(channel: string, listener: (message: unknown) => void): void;
  };
  getBuiltinModule(name: "async_hooks"): { readonly AsyncLocalStorage: new () => Context };
}

/** An `AsyncLocalStorage` of writes. */
interface Context {
  run<Result>(write: Write, work: () => Result): Result;
  getStore(): Write | undefined;
  disable(): void;
}

/** One write that is under way, and what the platform has said of its requests. */
class Write {
  readonly #method: string;
  readonly #url: string;
  /** The URL in its parts, once there is a request to compare it with. */
  #parts: URL | undefined;
  /** The write in whose `fetch` this one was made. */
  readonly outer: Write | undefined;
  /** Its requests, each with the error that it failed with; `undefined` while it is under way. */
  readonly requests = new Map<PlatformRequest, unknown>();
  /** The requests whose headers have left. */
  readonly left = new Set<PlatformRequest>();
  /** An earlier one may have left. */
  #hasEarlier = false;
  /** Sockets that were opened in its context. */
  sockets = 0;
  /** The sockets among them of requests that the platform tells of. */
  explained = 0;

  constructor(method: string, url: string, outer: Write | undefined) {
    this.#method = method;
    this.#url = url;
    this.outer = outer;
  }

  /** `true` if a request of a dispatcher may be one of this write. Dispatchers change the origin; wrappers add to the query. */
  isLike({ method, origin, path }: PlatformRequest): boolean {
    if (method !== this.#method) return false;
    this.#parts ??= new URL(this.#url);
    return String(origin) === this.#parts.origin || path.endsWith(this.#parts.pathname + this.#parts.search);
  }

  /** A request was made in its context. A write that was made before may have left, unless its error says otherwise. */
  addRequest(request: PlatformRequest, unsent: WeakSet<object>): void {
    if (!isWrite(request.method)) return;
    this.#hasEarlier ||= !this.#areUnsent(unsent);
    this.requests.set(request, undefined);
  }

  #areUnsent(unsent: WeakSet<object>): boolean {
    return [...this.requests.values()].every((error) => unsent.has(error as object)); // false for `undefined`
  }

  /** `true` if something has left, or may have: also by a transport that the platform does not tell of, such as HTTP/2. */
  get mayHaveLeft(): boolean {
    return this.#hasEarlier || this.left.size > 0 || this.sockets > this.explained;
  }

  /** The evidence about the write, when it failed with this error. */
  evidence(error: unknown, unsent: WeakSet<object>): RequestEvidence {
    const failures = [...this.requests.values()];
    // The error of one of its requests, and none is under way.
    const failed = !failures.includes(undefined) && causesOf(error).some((cause) => failures.includes(cause));
    return { left: this.mayHaveLeft, failed, unsent: failed && !this.mayHaveLeft && this.#areUnsent(unsent) };
  }
}

/**
 * `true` if a GOAWAY of HTTP/2 ended a stream above the last one that it names: the other side has not processed it
 * (RFC 9113, section 6.8). undici 8 ends only such streams with this code; those of other versions have another one.
 */
function isOfUnprocessedStream(error: unknown): boolean {
  const { code, message } = Object(error) as Readonly<Record<string, unknown>>; // any object can be asked
  return code === "UND_ERR_INFO" && /^HTTP\/2: "GOAWAY" frame/.test(String(message));
}

/** Listens to the channels while a write is under way. */
class WriteListener {
  readonly #node: NodeModules;
  readonly #context: Context;
  readonly #underWay = new Set<Write>();
  readonly #writesOf = new WeakMap<PlatformRequest, readonly Write[]>();
  /** Errors of connections that were never made, and of streams that the other side has not processed. */
  readonly #unsent = new WeakSet<object>();
  readonly #listeners = Object.entries<(message: Message) => void>({
    "undici:request:create": ({ request }) => {
      const own = this.#ownWrites();
      const isFirst = own.some(({ requests }) => requests.size === 0);
      for (const write of own) write.addRequest(request, this.#unsent);
      // Another than the first may have been made by a dispatcher, in whatever context that was: to resend, or from its queue.
      const like = isFirst ? [] : [...this.#underWay].filter((write) => write.isLike(request) && !own.includes(write));
      for (const write of like) write.requests.set(request, undefined);
      this.#writesOf.set(request, isWrite(request.method) ? [...own, ...like] : like);
    },
    "undici:client:connectError": ({ error }) => {
      this.#unsent.add(error as object); // undici publishes one
    },
    "undici:client:sendHeaders": ({ request }) => {
      for (const write of this.#writesOf.get(request) ?? []) write.left.add(request);
    },
    "undici:request:error": ({ request, error }) => {
      const isUnprocessed = isOfUnprocessedStream(error);
      if (isUnprocessed) this.#unsent.add(error as object); // it has a code
      for (const write of this.#writesOf.get(request) ?? []) {
        write.requests.set(request, error);
        if (isUnprocessed) write.left.delete(request);
      }
    },
    "undici:client:beforeConnect": () => {
      for (const write of this.#ownWrites()) write.explained += 1;
    },
    // A `fetch` over `node:http`. Node does not tell when headers leave.
    "http.client.request.start": ({ request }) => {
      for (const write of this.#ownWrites()) {
        write.explained += request.reusedSocket ? 0 : 1;
        write.addRequest(request, this.#unsent);
      }
    },
    "net.client.socket": () => {
      for (const write of this.#ownWrites()) write.sockets += 1;
    },
  }).map(([channel, listener]) => {
    // Anybody can publish there, and what a listener throws would end the process.
    return [channel, (message: unknown) => ignoreErrors(() => listener(message as Message))] as const; // as undici publishes it
  });

  constructor(node: NodeModules) {
    const { AsyncLocalStorage } = node.getBuiltinModule("async_hooks");
    this.#node = node;
    this.#context = new AsyncLocalStorage();
  }

  begin(write: Write): void {
    if (this.#underWay.size === 0) {
      const channels = this.#node.getBuiltinModule("diagnostics_channel");
      for (const [channel, listener] of this.#listeners) channels.subscribe(channel, listener);
    }
    this.#underWay.add(write);
  }

  run<Result>(write: Write, work: () => Result): Result {
    return this.#context.run(write, work);
  }

  end(write: Write): void {
    if (!this.#underWay.delete(write) || this.#underWay.size > 0) return;
    const channels = this.#node.getBuiltinModule("diagnostics_channel");
    for (const [channel, listener] of this.#listeners) channels.unsubscribe(channel, listener);
    // workerd has the method, and throws.
    ignoreErrors(() => this.#context.disable());
  }

  /** The evidence about a write that failed with this error. */
  evidence(write: Write, error: unknown): RequestEvidence {
    return (
      ignoreErrors(() => write.evidence(error, this.#unsent)) ?? {
        left: write.mayHaveLeft,
        failed: false,
        unsent: false,
      }
    );
  }

  /** A write of this URL, in the `fetch` of the write that is under way in this context, if one is. */
  write(method: string, url: string): Write {
    return new Write(method, url, this.#ownWrites()[0]);
  }

  /** The writes under way in whose `fetch` this happens, the innermost first. */
  #ownWrites(): readonly Write[] {
    const own: Write[] = [];
    for (let write = this.#context.getStore(); write !== undefined; write = write.outer) {
      if (this.#underWay.has(write)) own.push(write);
    }
    return own;
  }
}

let listener: WriteListener | undefined;

/** Watches one write on the platform, from `run` until `end`: it has ended, or is not waited for any more. */
export interface WriteWatch {
  /** Sends the write, once. */
  run<Result>(send: () => Result): Result;
  /** The evidence about a write that failed with this error. */
  evidence(error: unknown): RequestEvidence;
  end(): void;
}

/** A watch of a write that is about to be sent; `undefined` where the platform does not tell of requests. */
export function watchWrite(method: string, url: string): WriteWatch | undefined {
  return ignoreErrors(() => {
    const { process: node } = globalThis as { readonly process?: Partial<NodeModules> };
    if (!hasMethods(node, "getBuiltinModule") || node?.versions?.undici === undefined) return undefined;
    listener ??= new WriteListener(node as NodeModules); // it has the method
    const at = listener;
    const write = at.write(method, url);
    return {
      run: (send) => {
        ignoreErrors(() => at.begin(write));
        return at.run(write, send);
      },
      evidence: (error) => at.evidence(write, error),
      end: () => at.end(write),
    };
  });
}
