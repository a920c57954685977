/**
 * A Worker with one client for all its visitors. When a visitor has been answered, workerd runs nothing more of the visit:
 * neither its continuations nor its timers.
 */
import type * as Package from "project-automation";

// @ts-expect-error -- a module of the configuration of workerd
const { Client, rotatingToken } = (await import("./package/index.js")) as typeof Package;

interface Environment {
  readonly ORIGIN: string;
}

type Options = Omit<Package.ClientOptions, "baseUrl">;

const ask = async (url: string, init?: RequestInit): Promise<string> => await (await fetch(url, init)).text();

/** The options of each world's client. */
const OPTIONS: Readonly<Record<string, (origin: string) => Options>> = {
  plain: () => ({ token: "pat_key_secret" }),
  provider: (origin) => ({ token: () => ask(`${origin}/vault`) }),
  signal: (origin) => ({
    token: ({ rejected, signal }) =>
      rejected === undefined ? "pat_revoked_secret" : ask(`${origin}/vault`, { signal }),
  }),
  rotation: () => {
    const token = rotatingToken({
      token: { id: "t1", plaintext: "pat_key_secret", expires_at: new Date(Date.now() + 60_000).toISOString() },
      onRotated: () => undefined,
    });
    tokens.push(token);
    return { token };
  },
  storing: (origin) => {
    const token = rotatingToken({
      token: { id: "stored", plaintext: "pat_key_secret", expires_at: new Date(Date.now() + 60_000).toISOString() },
      onRotated: () => ask(`${origin}/vault`).then(() => undefined),
    });
    tokens.push(token);
    return { token };
  },
  slots: () => ({ token: "pat_key_secret", maxConcurrency: 2 }),
};

const clients = new Map<string, Package.Client>();
const tokens: Package.RotatingToken[] = [];

function clientOf(world: string, origin: string): Package.Client {
  const known = clients.get(world);
  if (known !== undefined) return known;
  const options = OPTIONS[world.split("-")[0] ?? ""]?.(origin);
  const client = new Client({ baseUrl: `${origin}/${world}/v1`, timeoutMs: 2_000, ...options });
  clients.set(world, client);
  return client;
}

const timer = (ms: number): Promise<string> => new Promise((resolve) => setTimeout(() => resolve("left"), ms));

/** What visitors do. Each is answered while a call of theirs is under way. */
const VISITS: Readonly<Record<string, (client: Package.Client) => Promise<unknown>>> = {
  all: async (client) => await Promise.all([client.sessions.get("missing"), client.sessions.get("slow")]),
  race: async (client) => await Promise.race([client.sessions.get("slow"), timer(50)]),
  pause: async (client) => await client.sessions.get("limited", { retry: false }),
  wait: async (client) => await Promise.race([client.sessions.waitFor("fine", { until: () => false }), timer(50)]),
  made: async () => "made",
  rotated: async (client) => {
    await client.sessions.get("fine");
    return tokens.at(-1)?.latest().plaintext;
  },
  other: async (client) => (await client.sessions.get("fine")).state,
};

// biome-ignore lint/style/noDefaultExport: a Worker is one
export default {
  async fetch(request: Request, { ORIGIN }: Environment): Promise<Response> {
    const [, world = "", visit = ""] = new URL(request.url).pathname.split("/");
    try {
      return new Response(String(await VISITS[visit]?.(clientOf(world, ORIGIN))));
    } catch (error) {
      return new Response(String(error));
    }
  },
};
