/** The page's elements, and what they show in each state. */
import type { Project } from "project-automation";
import type { Settings } from "./source.ts";
import type { State } from "./state.ts";

export const elements = {
  form: find("form", HTMLFormElement),
  settings: find("settings", HTMLFieldSetElement),
  server: find("server", HTMLElement),
  aboutEmulator: find("about-emulator", HTMLElement),
  primary: find("primary", HTMLButtonElement),
  restart: find("restart", HTMLButtonElement),
  status: find("status", HTMLElement),
  items: find("items", HTMLElement),
  pages: find("pages", HTMLElement),
  chip: find("chip", HTMLElement),
  bar: find("bar", HTMLProgressElement),
  message: find("message", HTMLElement),
  announcement: find("announcement", HTMLElement),
  projects: find("projects", HTMLOListElement),
};

const LABELS: Readonly<Record<State["name"], { readonly chip: string; readonly primary: string }>> = {
  idle: { chip: "Ready", primary: "Start" },
  running: { chip: "Running", primary: "Stop" },
  paused: { chip: "Paused", primary: "Stop" },
  stopped: { chip: "Stopped", primary: "Resume" },
  done: { chip: "Done", primary: "Start over" },
  error: { chip: "Error", primary: "Try again" },
};

let items = 0;
let pages = 0;
let clock: ReturnType<typeof setInterval> | undefined;

export function show(state: State): void {
  clearInterval(clock);
  const isBusy = state.name === "running" || state.name === "paused";
  const goesOn = state.name === "running" && elements.status.dataset["state"] === "paused";
  elements.status.dataset["state"] = state.name;
  elements.chip.textContent = LABELS[state.name].chip;
  elements.primary.textContent = LABELS[state.name].primary;
  elements.settings.disabled = isBusy;
  elements.restart.hidden = !("cursor" in state && state.cursor !== undefined);
  elements.message.textContent = describe(state);
  drawBar(state);
  if (state.name === "paused") {
    clock = setInterval(() => {
      elements.message.textContent = describe(state);
      drawBar(state);
    }, 100);
  }
  // A screen reader is told once of each change, and spared the obvious.
  if (state.name !== "idle" && !goesOn)
    elements.announcement.textContent = `${LABELS[state.name].chip}. ${describe(state)}`;
}

function describe(state: State): string {
  const soFar = `${counted(items, "project")} in ${counted(pages, "page")}`;
  switch (state.name) {
    case "idle":
      return "Nothing has been sent yet.";
    case "running":
      return "Reading, one page at a time.";
    case "paused":
      return `The rate limit is reached. Going on in ${Math.max(1, Math.ceil((state.until - Date.now()) / 1_000))} s.`;
    case "stopped":
      return `Stopped after ${soFar}. Resume brings exactly the rest.`;
    case "done":
      return `That is all: ${soFar}.`;
    case "error":
      return state.message;
  }
}

function counted(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? "" : "s"}`;
}

function drawBar(state: State): void {
  if (state.name === "running") elements.bar.removeAttribute("value");
  else if (state.name === "paused")
    elements.bar.value = Math.max(0, (state.until - Date.now()) / (state.until - state.from));
  else elements.bar.value = state.name === "done" ? 1 : 0;
}

/** The next page of projects. */
export function addProjects(projects: readonly Project[]): void {
  elements.projects.append(...projects.map(row));
  count(items + projects.length, pages + 1);
}

export function clearProjects(): void {
  elements.projects.replaceChildren();
  count(0, 0);
}

function count(newItems: number, newPages: number): void {
  items = newItems;
  pages = newPages;
  elements.items.textContent = String(items);
  elements.pages.textContent = String(pages);
}

function row({ id, name }: Project): HTMLLIElement {
  const line = document.createElement("li");
  const title = document.createElement("span");
  const code = document.createElement("code");
  title.textContent = name; // as text: what a service sends is never markup
  code.textContent = id;
  line.append(title, code);
  return line;
}

export function readSettings(): Settings {
  const form = new FormData(elements.form);
  const text = (name: string): string => {
    const value = form.get(name);
    return typeof value === "string" ? value.trim() : "";
  };
  return {
    source: text("source") === "server" ? "server" : "emulator",
    baseUrl: text("baseUrl"),
    token: text("token"),
  };
}

export function showSource(): void {
  const isServer = readSettings().source === "server";
  elements.server.hidden = !isServer;
  elements.aboutEmulator.hidden = isServer;
}

function find<Kind extends HTMLElement>(id: string, kind: new () => Kind): Kind {
  const found = document.getElementById(id);
  if (found instanceof kind) return found;
  throw new Error(`index.html has no ${kind.name} "${id}"`);
}
