import { ignoreErrors } from "../checks/ignore-errors.ts";
import { fieldsOf, hasMethods } from "../checks/values.ts";
import { causesOf } from "../errors/explanation.ts";
import { isWrite } from "../wire/method.ts";

// A write that was handed to `fetch` and got no response is unknown, but for one course of events, which Node's channels show
// as a whole:
//   1. `fetch` makes one request of undici, with the method and the URL of the write, in the turn in which it is called.
//   2. Nothing else writes in the context of that call, by undici or `node:http`, until the turn of 4. is over.
//   3. The request fails because its connection was never made, and nothing of it has left. Or it fails because the other
//      side has not processed its stream (HTTP/2).
//   4. `fetch` rejects with that error, or with one that has it among its causes, in the turn in which the request failed.
// A turn ends when no microtask is left. So nothing from outside comes between, and no other way was tried before or after.

/** A request of undici (https://undici.nodejs.org, "Diagnostics Channel Support"), or of `node:http`. */
interface PlatformRequest {
  readonly method: string;
  readonly origin: unknown;
  readonly path: string;
}

/** A message of the channels; `error` is there where the request failed. */
interface Message {
  readonly request: PlatformRequest;
  readonly error?: unknown;
}

interface NodeModules {
  /** Only Node itself has undici. Bun and Deno publish on these channels as well, perhaps when a write has left. */
  readonly versions: { readonly undici?: string | undefined };
  getBuiltinModule(name: "process"): { readonly nextTick: (work: () => void) => void };
  getBuiltinModule(name: "diagnostics_channel"): {
    subscribe(channel: string, listener: (message: unknown) => void): void;
  };
  getBuiltinModule(name: "async_hooks"): { readonly AsyncLocalStorage: new () => WriteStorage };
}

/** An `AsyncLocalStorage` of the writes in whose `fetch` something happens. */
interface WriteStorage {
  run<Result>(writes: readonly Write[], work: () => Result): Result;
  getStore(): readonly Write[] | undefined;
}

/** Watches one write on its platform. */
export interface WriteWatch {
  /** Calls `fetch`, once. */
  send<Result>(fetch: () => Result): Result;
  /** `true` if the platform shows that the write was not sent. Asked in the turn in which `fetch` rejects with the error. */
  isUnsent(error: unknown): Promise<boolean>;
  /** `fetch` has ended. */
  end(): void;
}

/** One write from the call of its `fetch` to the end of that. */
class Write {
  readonly #method: string;
  readonly #url: string;
  /** The turn in which `fetch` was called is not over. */
  isBeginning = true;
  isOver = false;
  hasOther = false;
  isHeadSent = false;
  isBodySent = false;
  /** Of the turn in which the request failed: the error that says that it was not sent. */
  unsent: unknown;
  #request: PlatformRequest | undefined;

  constructor(method: string, url: string) {
    this.#method = method;
    this.#url = url;
  }

  /** Returns whether a request that writes in its context is its first one, made at once. Any other one is another write. */
  takes(request: PlatformRequest): boolean {
    const isFirst = this.isBeginning && this.#request === undefined;
    if (isFirst) this.#request = request;
    else this.hasOther = true;
    return isFirst;
  }

  /** Another write may begin until the turn ends. */
  async isUnsent(error: unknown): Promise<boolean> {
    if (this.unsent === undefined || !this.#isItself || !causesOf(error).includes(this.unsent)) return false;
    await endOfTurn();
    return !this.hasOther;
  }

  /** A proxy without a tunnel is asked for the whole URL. */
  get #isItself(): boolean {
    const { href, origin, pathname, search } = new URL(this.#url);
    const { method, origin: asked, path } = this.#request ?? {};
    return method === this.#method && (path === href || (String(asked) === origin && path === pathname + search));
  }
}

/**
 * `true` if a GOAWAY of HTTP/2 ended a stream above the last one that it names: the other side has not processed it
 * (RFC 9113, section 6.8). undici 8 has this error for such streams alone. undici 5 and 6 have it for every stream, and do
 * not tell of headers over HTTP/2.
 */
function isOfUnprocessedStream({ isHeadSent }: Write, error: unknown): boolean {
  const { code, message } = fieldsOf(error);
  return isHeadSent && code === "UND_ERR_INFO" && /^HTTP\/2: "GOAWAY" frame/.test(String(message));
}

const { process: node } = globalThis as { readonly process?: Partial<NodeModules> };
/** Node's own: a test may replace that of the global `process`. */
const nextTick = ignoreErrors(() => node?.getBuiltinModule?.("process").nextTick);

/** Resolves when no microtask is left, before anything comes from outside. Fake timers leave promises alone. */
async function endOfTurn(): Promise<void> {
  await Promise.resolve();
  await new Promise<void>((resolve) => nextTick?.(resolve));
}

/** Listens to the channels from the first write of the process on. */
class WriteListener {
  readonly #storage: WriteStorage;
  readonly #writesOf = new WeakMap<PlatformRequest, readonly Write[]>();
  /** Errors of connections that were never made. */
  readonly #neverConnected = new WeakSet<object>();

  constructor(node: NodeModules) {
    const { AsyncLocalStorage } = node.getBuiltinModule("async_hooks");
    this.#storage = new AsyncLocalStorage();
    const channels = node.getBuiltinModule("diagnostics_channel");
    const listeners: Readonly<Record<string, (message: Message) => void>> = {
      "undici:request:create": ({ request }) => this.#noteRequest(request),
      "undici:client:connectError": ({ error }) => this.#neverConnected.add(error as object), // undici publishes one
      "undici:client:sendHeaders": ({ request }) => {
        for (const write of this.#writesOf.get(request) ?? []) write.isHeadSent = true;
      },
      // undici 6 tells of nothing else that leaves over HTTP/2.
      "undici:request:bodySent": ({ request }) => {
        for (const write of this.#writesOf.get(request) ?? []) write.isBodySent = true;
      },
      "undici:request:error": ({ request, error }) => {
        for (const write of this.#writesOf.get(request) ?? []) this.#noteFailure(write, error);
      },
      "http.client.request.created": ({ request }) => this.#noteOther(request),
      // Before Node 22.12 the one above is not there.
      "http.client.request.start": ({ request }) => this.#noteOther(request),
    };
    for (const [channel, listener] of Object.entries(listeners)) {
      // Anybody can publish there, and what a listener throws would end the process.
      channels.subscribe(channel, (message) => ignoreErrors(() => listener(message as Message))); // as undici publishes it
    }
  }

  /** Calls `fetch` in the context of a write, and of those in whose `fetch` that happens. */
  send<Result>(write: Write, fetch: () => Result): Result {
    void endOfTurn().then(() => {
      write.isBeginning = false;
    });
    return this.#storage.run([write, ...this.#writes], fetch);
  }

  get #writes(): readonly Write[] {
    return this.#storage.getStore()?.filter(({ isOver }) => !isOver) ?? [];
  }

  #noteRequest(request: PlatformRequest): void {
    if (!isWrite(request.method)) return;
    const writes = this.#writes.filter((write) => write.takes(request));
    this.#writesOf.set(request, writes);
  }

  #noteOther({ method }: PlatformRequest): void {
    for (const write of this.#writes) write.hasOther ||= isWrite(method);
  }

  #noteFailure(write: Write, error: unknown): void {
    const isPartSent = write.isHeadSent || write.isBodySent;
    // A value that is no object is in no set.
    const isUnsent = isPartSent ? isOfUnprocessedStream(write, error) : this.#neverConnected.has(error as object);
    if (!isUnsent) return;
    write.unsent = error;
    void endOfTurn().then(() => {
      write.unsent = undefined;
    });
  }
}

let listener: WriteListener | undefined;

/** A watch of a write that is about to be handed to `fetch`; `undefined` where the platform does not tell of requests. */
export function watchWrite(method: string, url: string): WriteWatch | undefined {
  return ignoreErrors(() => {
    if (!hasMethods(node, "getBuiltinModule") || node?.versions?.undici === undefined) return undefined;
    listener ??= new WriteListener(node as NodeModules); // it has the method
    const at = listener;
    const write = new Write(method, url);
    return {
      send: (fetch) => at.send(write, fetch),
      isUnsent: (error) => write.isUnsent(error).catch(() => false),
      end: () => {
        write.isOver = true;
      },
    };
  });
}
