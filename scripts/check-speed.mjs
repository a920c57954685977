/**
 * Checks the time of a start: a fresh Node that imports the installed package beside one that imports ky alone, and a first
 * GET through the client beside one through ky. The two of a pair alternate, and each round is compared within itself, so
 * that what slows the machine slows both sides.
 *
 * Judged is CPU time (user and system, of all threads of the process, from its start on): unlike wall time it does not
 * count waiting for a busy machine's processors. The median of the rounds is judged once its 99 % confidence interval,
 * which needs no assumption about the noise, lies on one side of the budget. Until then there are more rounds,
 * up to a limit: where noise still covers the difference, nothing is claimed, and nothing fails.
 */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * A process that imports the package, over one that imports ky alone; and one that also gets a first page. Milliseconds
 * would measure the machine.
 */
const START_BUDGET = 1.2;

const WARM_UP = 3;
const ROUNDS = 20;
const MOST_ROUNDS = 120;

const report = `
  import { writeSync } from "node:fs";
  const { user, system } = process.cpuUsage();
  writeSync(1, JSON.stringify({ cpu: (user + system) / 1000, wall: performance.now() }));
  process.exit();`;
const expectThree = `if (data.length !== 3) throw new Error("the answer is not what was served");`;
const programs = {
  kyImport: `import ky from "ky"; if (typeof ky !== "function") throw new Error(); ${report}`,
  import: `import { Client } from "project-automation"; if (typeof Client !== "function") throw new Error(); ${report}`,
  ky: `
    import ky from "ky";
    const headers = { authorization: "Bearer pat_key_secret" };
    const { data } = await ky(process.argv[2] + "/projects", { headers }).json();
    ${expectThree} ${report}`,
  client: `
    import { Client } from "project-automation";
    const client = new Client({ baseUrl: process.argv[2], token: "pat_key_secret" });
    const data = await client.projects.list().toArray();
    ${expectThree} ${report}`,
};
const service = `
  import { createServer } from "node:http";
  const page = JSON.stringify({ data: [1, 2, 3].map((n) => ({ id: "prj_" + n, name: "project-" + n })), next_cursor: null });
  const server = createServer((request, response) => {
    response.setHeader("content-type", "application/json").end(page);
  });
  server.listen(0, "127.0.0.1", () => console.log(server.address().port));`;

const folder = mkdtempSync(join(tmpdir(), "project-automation-"));
install(folder);
const server = spawn(process.execPath, ["--input-type=module", "--eval", service], {
  stdio: ["ignore", "pipe", "inherit"],
});
try {
  const [port] = await once(server.stdout, "data");
  const baseUrl = `http://127.0.0.1:${String(port).trim()}`;
  for (let round = 0; round < WARM_UP; round += 1)
    for (const name of ["kyImport", "import", "ky", "client"]) measure(name, baseUrl);

  judge({
    what: `import, over that of ky, on Node ${process.version}`,
    budget: START_BUDGET,
    round: () => compare("kyImport", "import", baseUrl),
  });
  judge({
    what: "import, client and first GET, over those of ky",
    budget: START_BUDGET,
    round: () => compare("ky", "client", baseUrl),
  });
} finally {
  server.kill();
  rmSync(folder, { recursive: true, force: true });
}

function install(into) {
  const npm = (cwd, ...args) =>
    execFileSync("npm", [...args, "--ignore-scripts", "--silent", "--no-audit", "--no-fund"], {
      cwd,
      encoding: "utf8",
      shell: process.platform === "win32",
      stdio: ["ignore", "pipe", "inherit"],
    });
  const [{ filename }] = JSON.parse(npm(".", "pack", "--json", "--pack-destination", into));
  writeFileSync(join(into, "package.json"), JSON.stringify({ private: true }));
  npm(into, "install", "--offline", `./${filename}`);
  cpSync("node_modules/ky", join(into, "node_modules/ky"), { recursive: true });
  for (const [name, code] of Object.entries(programs)) writeFileSync(join(into, `${name}.mjs`), code);
}

/** One fresh process, told apart by nothing but its program. */
function measure(name, baseUrl) {
  const env = { ...process.env, NODE_OPTIONS: "", NODE_COMPILE_CACHE: "" };
  return JSON.parse(execFileSync(process.execPath, [`${name}.mjs`, baseUrl], { cwd: folder, encoding: "utf8", env }));
}

/** One round: the two programs, and how the second compares with the first. */
function compare(theirs, ours, baseUrl) {
  const [first, second] = [measure(theirs, baseUrl), measure(ours, baseUrl)];
  return { cpu: second.cpu / first.cpu, wall: second.wall / first.wall };
}

function judge({ what, budget, round }) {
  const rounds = [];
  let interval;
  do {
    for (let n = 0; n < ROUNDS; n += 1) rounds.push(round());
    interval = intervalOfMedian(rounds.map(({ cpu }) => cpu));
  } while (interval.low <= budget && interval.high > budget && rounds.length < MOST_ROUNDS);
  const show = (value) => `${value.toFixed(2)} ×`;
  console.log(
    `${what}: ${show(interval.median)} CPU (99 %: ${show(interval.low)} to ${show(interval.high)}), ` +
      `${show(median(rounds.map(({ wall }) => wall)))} wall, in ${rounds.length} rounds (budget ${show(budget)})`,
  );
  if (interval.low > budget) {
    console.error(`${what}: over its budget of ${show(budget)}`);
    process.exitCode = 1;
  }
}

/** The median, and the ranks around it that hold the true one in 99 of 100 cases, by the binomial distribution. */
function intervalOfMedian(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const reach = 1.288 * Math.sqrt(sorted.length);
  const low = sorted[Math.max(0, Math.floor(sorted.length / 2 - reach))];
  const high = sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length / 2 + reach))];
  return { low, median: median(sorted), high };
}

function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  return (sorted[Math.ceil(middle) - 1] + sorted[Math.floor(middle)]) / 2;
}
