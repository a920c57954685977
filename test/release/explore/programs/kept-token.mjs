// Rotates the token of a file, and puts the old one back after an error: it is revoked by then.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { Client } from "project-automation";

const save = (token) => writeFileSync("token.json", JSON.stringify(token));
if (!existsSync("token.json")) save(await new Client().tokens.create({ name: "job", scopes: ["projects:read"] }));
const old = JSON.parse(readFileSync("token.json", "utf8"));
const client = new Client({ token: old.plaintext, retry: false });
save(await client.tokens.rotate(old.id, { adopt: true }));
try {
  await client.projects.list({ limit: 1 }).page();
} catch (error) {
  save(old);
  throw error;
}
