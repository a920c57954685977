/**
 * The main job from end to end: a scoped token, a walk, an issue, sessions, a refusal, the rate limit, a rotation.
 * It creates 61 issues, so run it against the emulator:
 * npx project-automation emulator --rate-limit 40 --window-ms 3000 -- node examples/quickstart.ts
 */
import { Client, isAutomationError, PermissionDeniedError } from "project-automation";

const began = performance.now();
function say(text: string): void {
  const seconds = ((performance.now() - began) / 1000).toFixed(2).padStart(6);
  console.log(`${seconds} s  ${text}`);
}

const owner = new Client(); // reads PROJECT_AUTOMATION_BASE_URL and PROJECT_AUTOMATION_TOKEN
say(`the service is at ${process.env["PROJECT_AUTOMATION_BASE_URL"]}`);

const created = await owner.tokens.create({
  name: "quickstart",
  scopes: ["projects:read", "issues:write"],
  expires_in_days: 7,
});
say(`created token ${created.key_id} with ${created.scopes.join(", ")}; its plaintext is shown once, so store it now`);

const client = new Client({
  token: created.plaintext,
  onEvent: (event) => {
    if (event.type === "rate_limit_pause")
      say(`  rate limit reached: waiting ${Math.round(event.delayMs)} ms, as told`);
    if (event.type === "rate_limit_resume") say("  going on");
  },
});

let count = 0;
for await (const project of client.projects.list({ limit: 50 })) {
  count += 1;
  if (count === 1) say(`walking the projects: the first is ${project.name}`);
}
say(`walked ${count} projects, page by page`);

const [project] = await client.projects.list().toArray({ max: 1 });
if (project === undefined) throw new Error("the emulator has no projects");
const issue = await client.issues.create(project, { title: "Login page is blank", type: "bug" });
say(`created issue #${issue.number} "${issue.title}" (${issue.status}) in ${project.name}`);

try {
  await client.sessions.list(project).toArray();
} catch (error) {
  if (!(error instanceof PermissionDeniedError)) throw error;
  say(`refused, as it should be: ${error.name}, kind "${error.kind}", outcome "${error.outcome}"`);
  say(`  ${error.message}`);
}

for await (const session of owner.sessions.list(project)) say(`session ${session.id} is ${session.state}`);
const [first] = await owner.sessions.list(project).toArray({ max: 1 });
if (first === undefined) throw new Error("the project has no sessions");
const done = await owner.sessions.waitFor(first.id, {
  until: (session) => session.state === "done",
  intervalMs: 200,
  totalTimeoutMs: 60_000,
});
say(`followed session ${done.id} until it was ${done.state}`);

const numbers = await Promise.all(
  Array.from({ length: 60 }, (_, index) =>
    client.issues.create(project, { title: `Found by the nightly run, ${index + 1}`, type: "bug" }),
  ),
);
say(
  `created ${new Set(numbers.map((one) => one.number)).size} issues while the limit was reached: none lost, none twice`,
);

const { limit, remaining } = client.rateLimit ?? {};
say(`the service says: ${remaining} of ${limit} requests left in this window`);

const replacement = await client.tokens.rotate(created.id, { adopt: true });
say(`rotated the token: ${created.key_id} is dead, ${replacement.key_id} is in use`);
const after = await client.projects.list().toArray({ max: 1 });
say(`and goes on: read ${after.length} project with the new token`);

try {
  await client.withOptions({ token: created.plaintext }).projects.list().toArray({ max: 1 });
} catch (error) {
  if (!isAutomationError(error)) throw error;
  say(`the old token is refused: ${error.message}`);
}
say("done");
