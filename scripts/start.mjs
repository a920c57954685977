/**
 * `npm start`: the main job against the emulator. Flags go to the emulator: with `npm start -- --stay` it goes on when the job
 * has ended, and prints the address of its page.
 */
const flags = process.argv.slice(2);
const world = "--projects 260 --rate-limit 40 --window-ms 3000 --session-states queued,running,done".split(" ");
const quiet = flags.includes("--stay") ? [] : ["--quiet"];
process.argv.splice(2, flags.length, "emulator", ...quiet, ...world, ...flags, "--", "node", "examples/quickstart.ts");
await import("../dist/bin.js");
