import ky from "ky";
import * as z from "zod/mini";
import { type Calls, type Issue, type Item, PROJECT, type Session, type Setting, visitPage } from "../calls.ts";

/** ky as it is documented; nothing checks what comes back. */
export async function connect(setting: Setting): Promise<Calls> {
  return connectWith(setting, {
    session: (body) => body as Session,
    issue: (body) => body as Issue,
    page: (body) => body as Page,
  });
}

/** ky, and a schema for what comes back: what one would write by hand. */
export async function connectWithSchemas(setting: Setting): Promise<Calls> {
  const session = z.looseObject({ id: z.string(), state: z.string() });
  const issue = z.looseObject({ number: z.int(), title: z.string(), status: z.string() });
  const item = z.looseObject({ id: z.string(), name: z.string() });
  const page = z.looseObject({ data: z.array(item), next_cursor: z.nullable(z.string()) });
  return connectWith(setting, {
    session: (body) => session.parse(body),
    issue: (body) => issue.parse(body),
    page: (body) => page.parse(body),
  });
}

function connectWith({ origin, token, fetch }: Setting, read: Readers): Calls {
  const client = ky.create({
    prefix: `${origin}/api/v1`,
    headers: { authorization: `Bearer ${token}` },
    ...(fetch === undefined ? {} : { fetch }),
  });
  return {
    getSession: async (id, signal) => {
      const path = `sessions/${id}`;
      return read.session(await (signal === undefined ? client.get(path) : client.get(path, { signal })).json());
    },
    createIssue: async (title) =>
      read.issue(await client.post(`projects/${PROJECT}/issues`, { json: { title, type: "bug" } }).json()),
    async walk(limit, visit) {
      let cursor: string | null = null;
      do {
        const searchParams: Record<string, string | number> = cursor === null ? { limit } : { limit, cursor };
        const page: Page = read.page(await client.get("projects", { searchParams }).json());
        await visitPage(page.data, visit);
        cursor = page.next_cursor;
      } while (cursor !== null);
    },
  };
}

interface Page {
  readonly data: readonly Item[];
  readonly next_cursor: string | null;
}

interface Readers {
  session(body: unknown): Session;
  issue(body: unknown): Issue;
  page(body: unknown): Page;
}
