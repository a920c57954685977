import { existsSync, writeFileSync } from "node:fs";
import { Client } from "project-automation";

const client = new Client();
for (const title of ["one", "two"]) {
  if (existsSync(title)) continue;
  await client.issues.create("web", { title, type: "bug" });
  writeFileSync(title, "");
}
