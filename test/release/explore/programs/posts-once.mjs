// On Node, Bun and Deno: leaves a mark before it posts, and one when it is known to be done.
import { existsSync, writeFileSync } from "node:fs";

if (existsSync("done")) process.exit(0);
if (existsSync("begun")) throw new Error("it may be there: look");
writeFileSync("begun", "");
const response = await fetch(`${process.env.PROJECT_AUTOMATION_BASE_URL}/projects/web/issues`, {
  method: "POST",
  headers: { authorization: `Bearer ${process.env.PROJECT_AUTOMATION_TOKEN}`, "content-type": "application/json" },
  body: JSON.stringify({ title: "one", type: "bug" }),
});
if (response.status !== 201) throw new Error(`answered ${response.status}`);
await response.json();
writeFileSync("done", "");
