/** The suite on a server platform, by `require`. */
import type { Package } from "../conformance/bench.ts";
import { copyOfAnotherRealm } from "./realm.ts";
import { type Doors, runProgram, type Settings } from "./run.ts";

const settings = JSON.parse(process.argv[2] ?? "") as Settings; // the harness wrote it
// Not by a literal: the bundler would make a `require` of the import, and Deno an import of the file that is required.
const open = (entry: string): unknown => require(entry);
const openAsModule = (entry: string): Promise<Package> => import(entry);

void runProgram(settings, {
  open: async () =>
    ({
      pkg: open("project-automation"),
      testing: open("project-automation/testing"),
    }) as Doors,
  copies: async () => [
    { name: "the ESM copy", pkg: await openAsModule("project-automation") },
    copyOfAnotherRealm(require.resolve("project-automation")),
  ],
  complaints: [],
});
