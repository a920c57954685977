/** The suite on a server platform, by `import`. */
import { createRequire } from "node:module";
import type { Package } from "../conformance/bench.ts";
import { copyOfAnotherRealm } from "./realm.ts";
import { type Doors, runProgram, type Settings } from "./run.ts";

const settings = JSON.parse(process.argv[2] ?? "") as Settings; // the harness wrote it
const require = createRequire(import.meta.url);

await runProgram(settings, {
  open: async (): Promise<Doors> => ({
    pkg: await import("project-automation"),
    testing: await import("project-automation/testing"),
  }),
  copies: async () => [
    { name: "the CommonJS copy", pkg: require("project-automation") as Package },
    copyOfAnotherRealm(require.resolve("project-automation")),
  ],
  complaints: [],
});
