/** The script of the page: the stream changes one store, and views show it. */
import type { Counts, PageExchange, PageList } from "../events.ts";
import { type Place, parsePlace, queryOf } from "../place.ts";
import { sumOf } from "../tally.ts";
import { showDetail } from "./detail.ts";
import { find, make, onPress } from "./elements.ts";
import { listenToKeys } from "./keys.ts";
import { RequestList } from "./request-list.ts";
import { Store } from "./store.ts";
import { AGAIN_MS, follow } from "./stream.ts";
import { barsOf, draw } from "./time-line.ts";
import { KINDS, numberOf, secondsOf } from "./words.ts";
import { showFaults, showWorld, TokenList } from "./world-view.ts";

const FRAME_MS = 100;
/** For those who want less motion. */
const CALM_MS = 1_000;
const NUMBERS_MS = 5_000;

const list = new RequestList(find("rows"), (id) => `#${id}${queryOf(place)}`);
const tokens = new TokenList(find("tokens"));
const [stop, failed, detail] = [find("stop"), find("failed"), find("detail")];
const [filter, canvas] = [find<HTMLInputElement>("filter"), find<HTMLCanvasElement>("drawing")];
const numbers = find<HTMLDetailsElement>("numbers");
const calm = matchMedia("(prefers-reduced-motion: reduce)");

const store = new Store();
let place: Place = parsePlace(location.hash);
let isLive = false;
let stoppedAt: number | undefined;
let opened = { id: "", isCurrent: false };
let isChanged = true;
/** Something of the last minute moves. */
let isMoving = false;
/** The question for the requests that pass the filter. */
let asked: "once" | "again" | undefined;
let drawnAt = 0;

const now = (): number => stoppedAt ?? Date.now() + store.aheadMs;

function showLine(): void {
  const { limit = null, windowMs = 0 } = store.snapshot ?? {};
  const at = calm.matches ? Math.floor(now() / CALM_MS) * CALM_MS : now();
  const [steps, pauses] = [store.tally.steps(at), store.tally.pauses(at)];
  const ends = store.world?.tokens.newest.map(({ window }) => window?.endsAt ?? 0) ?? [];
  isMoving = steps.length > 0 || pauses.length > 0 || ends.some((end) => end > at);
  showCounts(sumOf(steps));
  draw(canvas, { now: at, steps, pauses, limit });
  find("limit").textContent =
    limit === null ? "no limit" : `limit ${limit} in ${secondsOf(windowMs)} (dashed), pauses shaded`;
  if (!numbers.open) return;
  const rows = barsOf(steps, NUMBERS_MS).map(({ at: from, ...counts }) => {
    const cells = [Math.max(0, Math.round((at - from) / 1000)), ...KINDS.map(([kind]) => counts[kind])];
    return make("tr", "", ...cells.map((cell) => make("td", "", String(cell))));
  });
  numbers.querySelector("tbody")?.replaceChildren(...rows.reverse());
}

function showCounts(minute: Counts): void {
  const items = KINDS.map(([kind, mark, name]) => {
    const all = make("span", "muted", `, ${numberOf(store.tally.counts[kind])} in all`);
    return make("li", kind, make("span", "mark", mark), make("b", "", numberOf(minute[kind])), ` ${name}`, all);
  });
  find("legend").replaceChildren(...items);
}

function showRequests(): void {
  const baseUrl = store.snapshot?.baseUrl ?? location.origin;
  const shown = [...store.requests.values()].sort((one, other) => other.index - one.index);
  list.show(shown, { open: place.open, baseUrl });
  const all = numberOf(store.total);
  find("shown").textContent = shown.length === store.total ? all : `${shown.length} of ${all}`;
  const nothing = find("nothing");
  nothing.hidden = shown.length > 0;
  find("table").hidden = !nothing.hidden;
  const first = make("code", "", `curl -H "Authorization: Bearer $PROJECT_AUTOMATION_TOKEN" ${baseUrl}/projects`);
  if (store.total > 0)
    nothing.replaceChildren(asked !== undefined ? "Searching …" : "No request in the log passes the filter.");
  else nothing.replaceChildren("Nothing yet. Send the first request: ", first);
}

async function showOpened(): Promise<void> {
  const isOther = opened.id !== place.open;
  detail.hidden = place.open === "" || store.snapshot === undefined;
  if (detail.hidden || (opened.isCurrent && !isOther)) return;
  if (isOther) detail.replaceChildren();
  const mine = { id: place.open, isCurrent: true };
  opened = mine;
  const exchange = await ask<PageExchange>(encodeURIComponent(mine.id));
  // The details that somebody reads stay, also when the request is no longer kept.
  if (mine !== opened || (exchange === undefined && detail.hasChildNodes())) return;
  showDetail(detail, exchange, store.snapshot?.baseUrl ?? "");
}

function ask<Value>(path: string): Promise<Value | undefined> {
  return fetch(`/_emulator/requests/${path}`)
    .then((response) => (response.ok ? (response.json() as Promise<Value>) : undefined)) // the emulator's own
    .catch(() => undefined);
}

/** Filters what is here at once, then asks the emulator for the rest until it answers: one question at a time. */
async function applyFilter(): Promise<void> {
  store.filter(place);
  const isAsking = asked !== undefined;
  asked = "again";
  if (isAsking) return;
  let found: PageList | undefined;
  while (found === undefined || asked === "again") {
    asked = "once";
    found = await ask<PageList>(queryOf(place));
    if (found === undefined) await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
  }
  asked = undefined;
  store.filter(place, found.requests);
  showRequests();
}

function showState(): void {
  const element = find("state");
  const told = stoppedAt !== undefined ? "stopped" : isLive ? "live" : "waiting for the emulator";
  if (element.textContent !== told) element.textContent = told;
  element.className = told;
  find("base").textContent = store.snapshot?.baseUrl ?? "";
}

function showAll(): void {
  showState();
  showRequests();
  void showOpened();
  if (store.world === undefined) return;
  showWorld(find("world"), store.world);
  showFaults(find("faults"), store.faults);
}

function frame(): void {
  const clock = Date.now();
  if (isChanged && stoppedAt === undefined) {
    isChanged = false;
    showAll();
    drawnAt = 0;
  }
  const stepMs = calm.matches ? CALM_MS : FRAME_MS;
  if (drawnAt === 0 || (isMoving && stoppedAt === undefined && clock - drawnAt >= stepMs)) {
    drawnAt = clock;
    showLine();
    if (store.world !== undefined) tokens.show(store.world, now());
  }
}

/** Shows at once what the user has changed, also on a page that is stopped. */
function go(to: Partial<Place>): void {
  const next = { ...place, ...to };
  history[next.open === place.open ? "replaceState" : "pushState"](null, "", `#${next.open}${queryOf(next)}`);
  arrive(next);
}

function arrive(next: Place): void {
  const { open: wasOpen, failed: wasFailed, text } = place;
  place = next;
  if (wasFailed !== place.failed || text !== place.text) void applyFilter();
  failed.setAttribute("aria-pressed", String(place.failed));
  if (filter.value !== place.text) filter.value = place.text;
  showAll();
  if (place.open === wasOpen) return;
  if (place.open !== "") detail.focus();
  else list.focus(wasOpen);
}

function toggleStop(): void {
  stoppedAt = stoppedAt === undefined ? now() : undefined;
  stop.firstChild?.replaceWith(stoppedAt === undefined ? "Stop " : "Go on ");
  showState();
  isChanged = true;
  if (stoppedAt === undefined) void applyFilter();
}

follow(
  (event) => {
    store.take(event, Date.now());
    isChanged = true;
    const isOpened = (event.type === "request" || event.type === "response") && event.request.id === opened.id;
    if (isOpened || event.type === "snapshot") opened.isCurrent = false;
    const isToAsk = asked !== undefined || (stoppedAt === undefined && queryOf(place) !== "");
    if (event.type === "snapshot" && isToAsk) void applyFilter();
  },
  (live) => {
    isLive = live;
    showState();
  },
);
setInterval(frame, FRAME_MS);

addEventListener("resize", showLine);
addEventListener("popstate", () => arrive(parsePlace(location.hash)));
numbers.addEventListener("toggle", showLine);
onPress(stop, toggleStop);
onPress(failed, () => go({ failed: !place.failed }));
filter.addEventListener("input", () => go({ text: filter.value }));
onPress(detail, ({ target }) => {
  if (target instanceof HTMLElement && target.id === "detail-close") go({ open: "" });
});
listenToKeys({
  stop: toggleStop,
  reach: () => list.reach(),
  move: (by) => list.move(by),
  filter: () => filter.focus(),
  clear: () => {
    filter.blur();
    go({ text: "" });
  },
  failed: () => go({ failed: !place.failed }),
  back: () => go({ open: "" }),
});
arrive(place);
