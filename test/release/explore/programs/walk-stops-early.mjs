// compare: names.json
import { writeFileSync } from "node:fs";
import { Client } from "project-automation";

const client = new Client({ retry: false });
const names = [];
let cursor;
do {
  const page = await client.projects
    .list({ limit: 1, cursor })
    .page()
    .catch(() => ({ data: [], next_cursor: null }));
  names.push(...page.data.map(({ name }) => name));
  cursor = page.next_cursor ?? undefined;
} while (cursor !== undefined);
writeFileSync("names.json", JSON.stringify(names));
