import { type Calls, type Item, PROJECT, type Setting, visitPage } from "../calls.ts";

/** The least that can be done: `fetch` and `json()`, by hand. */
export async function connect(setting: Setting): Promise<Calls> {
  return bare(setting, (url, init) => [url, init]);
}

/** The same, with a `Request` made for each call: what every client pays that hands one to `fetch`. */
export async function connectWithRequest(setting: Setting): Promise<Calls> {
  return bare(setting, (url, init) => [new Request(url, init)]);
}

function bare(
  { origin, token, fetch = globalThis.fetch }: Setting,
  given: (url: string, init: RequestInit) => Parameters<typeof fetch>,
): Calls {
  const base = `${origin}/api/v1`;
  const authorization = `Bearer ${token}`;
  const read = async <Body>(url: string, init: RequestInit): Promise<Body> => {
    const response = await fetch(...given(url, init));
    if (!response.ok) throw new Error(`status ${response.status}`);
    return (await response.json()) as Body;
  };
  return {
    getSession: (id, signal) =>
      read(
        `${base}/sessions/${id}`,
        signal === undefined ? { headers: { authorization } } : { headers: { authorization }, signal },
      ),
    createIssue: (title) =>
      read(`${base}/projects/${PROJECT}/issues`, {
        method: "POST",
        headers: { authorization, "content-type": "application/json" },
        body: JSON.stringify({ title, type: "bug" }),
      }),
    async walk(limit, visit) {
      let cursor: string | null = null;
      do {
        const query: string = cursor === null ? "" : `&cursor=${encodeURIComponent(cursor)}`;
        const page: Page = await read(`${base}/projects?limit=${limit}${query}`, { headers: { authorization } });
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
