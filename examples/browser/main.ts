/**
 * A page that lists projects while they come in. Shows: a walk in a page, the rate limit's pauses live, stopping, and
 * going on from the cursor. Run it: `npm ci` and `npx vite` in this folder, once the package is built.
 */
import type { ClientEvent } from "project-automation";
import { clientFor } from "./source.ts";
import { type State, stateAfter } from "./state.ts";
import { addProjects, clearProjects, elements, readSettings, show, showSource } from "./view.ts";

let state: State = { name: "idle" };
let stop = new AbortController();

elements.form.addEventListener("submit", (event) => {
  event.preventDefault();
  if (state.name === "running" || state.name === "paused") stop.abort();
  else void run("cursor" in state ? state.cursor : undefined);
});
elements.restart.addEventListener("click", () => void run(undefined));
elements.form.addEventListener("change", showSource);
showSource();
enter(state);

async function run(cursor: string | undefined): Promise<void> {
  const settings = readSettings(); // before they are closed
  elements.primary.focus(); // what had the focus may be closed or gone in a moment
  if (cursor === undefined) clearProjects();
  stop = new AbortController();
  enter({ name: "running" });
  try {
    const client = clientFor(settings, notePauses);
    for await (const page of client.projects.list({ limit: 10, cursor }, { signal: stop.signal }).pages()) {
      addProjects(page.data);
    }
    enter({ name: "done" });
  } catch (error) {
    enter(stateAfter(error, cursor));
  }
}

function notePauses(event: ClientEvent): void {
  if (event.type === "rate_limit_pause") enter({ name: "paused", from: Date.now(), until: Date.now() + event.delayMs });
  if (event.type === "rate_limit_resume" && state.name === "paused") enter({ name: "running" });
}

function enter(next: State): void {
  state = next;
  show(state);
}
