// compare: report.json
import { renameSync, writeFileSync } from "node:fs";
import { promisify } from "node:util";
import { Client } from "project-automation";

const sleep = promisify(setTimeout);
const names = [];
for await (const { name } of new Client().projects.list({ limit: 2 })) {
  names.push(name);
  await sleep(20);
}
writeFileSync("report.new", JSON.stringify(names));
renameSync("report.new", "report.json");
