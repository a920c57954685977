import { setupServer } from "msw/node";
import type { Emulator, EmulatorOptions } from "../../src/testing/index.ts";
import { createEmulator } from "../../src/testing/index.ts";
import { emulatorHandlers } from "../../src/testing/msw.ts";
import { startEmulator } from "../../src/testing/node.ts";

/** An emulator, and the `fetch` of a client that reaches it over one transport. */
export interface Opened extends AsyncDisposable {
  readonly emulator: Emulator;
  readonly fetch: typeof globalThis.fetch;
}

/** A way for requests to reach the emulator. */
export interface Transport {
  readonly name: "fetch" | "msw" | "node";
  readonly open: (options?: EmulatorOptions) => Promise<Opened>;
}

/** The three that users have. */
export const transports: readonly Transport[] = [
  {
    name: "fetch",
    open: async (options) => {
      const emulator = createEmulator(options);
      return { emulator, fetch: emulator.fetch, [Symbol.asyncDispose]: async () => undefined };
    },
  },
  {
    name: "msw",
    open: async (options) => {
      const emulator = createEmulator(options);
      const server = setupServer(...emulatorHandlers(emulator));
      server.listen({ onUnhandledFrame: "error" });
      return { emulator, fetch: globalThis.fetch, [Symbol.asyncDispose]: async () => server.close() };
    },
  },
  {
    name: "node",
    open: async (options) => {
      const running = await startEmulator(options);
      return { emulator: running.emulator, fetch: globalThis.fetch, [Symbol.asyncDispose]: running.close };
    },
  },
];

/** One request of a test. */
export interface SentRequest {
  readonly method?: string;
  /** Default: the token with full access. `null` sends none. */
  readonly token?: string | null;
  readonly json?: unknown;
  readonly body?: string | Uint8Array<ArrayBuffer>;
  readonly headers?: Record<string, string>;
  readonly signal?: AbortSignal;
}

/** What came back, read to the end. */
export interface ReadResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON; `undefined` when it is none. */
  readonly body: Body;
}

/** The fields that any body of this service may have. Reading one that is missing gives `undefined`, as at run time. */
export interface Body {
  readonly error: string;
  readonly message: string;
  readonly data: readonly { readonly id: string; readonly name: string; readonly state: string }[];
  readonly next_cursor: string | null;
  readonly id: string;
  readonly key_id: string;
  readonly plaintext: string;
  readonly expires_at: string;
  readonly scopes: readonly string[];
  readonly number: number;
  readonly state: string;
}

/** Sends one request and reads the answer. */
export async function ask({ emulator, fetch }: Opened, path: string, request: SentRequest = {}): Promise<ReadResponse> {
  const { json, token = emulator.token, ...init } = request;
  const headers = { ...(token !== null && { authorization: `Bearer ${token}` }), ...request.headers };
  const body = json === undefined ? request.body : JSON.stringify(json);
  const sent: RequestInit = { ...init, headers, redirect: "manual", ...(body !== undefined && { body }) };
  const response = await fetch(emulator.baseUrl + path, sent);
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: parse(text) };
}

/** As {@link ask}, with a JSON body. */
export function post(opened: Opened, path: string, request: SentRequest = {}): Promise<ReadResponse> {
  return ask(opened, path, { method: "POST", ...request });
}

function parse(text: string): Body {
  try {
    // What is in a body is what each test then checks.
    return JSON.parse(text) as Body;
  } catch {
    return {} as Body; // has none of the fields
  }
}
