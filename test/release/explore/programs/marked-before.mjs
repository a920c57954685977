import { existsSync, writeFileSync } from "node:fs";
import { Client } from "project-automation";

const client = new Client();
for (const title of ["one", "two"]) {
  if (existsSync(title)) continue;
  writeFileSync(title, "");
  await client.issues.create("web", { title, type: "bug" });
}
