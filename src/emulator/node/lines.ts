import type { EmulatorOptions } from "../options.ts";
import type { RecordedRequest } from "../request-log.ts";
import type { EmulatorSession } from "../tables.ts";
import type { ListeningEmulator } from "./running-emulator.ts";

/** More names would hide what follows. */
const SHOWN_NAMES = 5;

/** The world in three lines (projects, a session, the token), then the address of the page. */
export function world({ emulator, page }: ListeningEmulator): string {
  const { projects, sessions, tokens } = emulator;
  const names = projects.list().map(({ name }) => name);
  const more = names.length > SHOWN_NAMES ? `, … (${names.length})` : "";
  const [session] = sessions.list();
  const [token] = tokens.list();
  return `projects: ${names.slice(0, SHOWN_NAMES).join(", ") || "none"}${more}
session:  ${session === undefined ? "none" : `${session.id} of ${projects.get(session.project)?.name}, ${pathOf(session)}`}
token id: ${token?.id}

page: ${page}`;
}

/** A file of another service's conventions is noticed. */
export function conventionsLine({ conventionsOf }: Pick<EmulatorOptions, "conventionsOf">): string {
  return conventionsOf === undefined ? "" : `conventions of ${conventionsOf}\n`;
}

function pathOf({ state, states }: EmulatorSession): string {
  return states.length === 0 ? state : `${states.join(", then ")}: the next state after each GET`;
}

export function howToCall({ baseUrl, token }: ListeningEmulator): string {
  return `
From a shell:

  curl -H "Authorization: Bearer ${token}" "${baseUrl}/projects"

From a program:

  import { Client } from "project-automation";
  const client = new Client({
    baseUrl: "${baseUrl}",
    token: "${token}",
  });
  for await (const project of client.projects.list()) console.log(project.name);

Ctrl-C ends it.

`;
}

const GREEN = 32;
const YELLOW = 33;
const RED = 31;
const GREY = 90;

/** A line on a request that has ended, such as `12:00:00.000 201 POST /api/v1/me/tokens 3 ms`. */
export function logLine(request: RecordedRequest, colour: boolean): string {
  const paint = (code: number, text: string): string => (colour ? `\u001b[${code}m${text}\u001b[39m` : text);
  const { at, endedAt = at, status, outcome, faulty } = request;
  const told = outcome === "completed" ? String(status) : [status, outcome].filter(Boolean).join(" ");
  const statusColour = status === undefined || status >= 500 ? RED : status >= 400 ? YELLOW : GREEN;
  const parts = [
    paint(GREY, new Date(at).toISOString().slice(11, 23)),
    paint(outcome === "completed" ? statusColour : RED, told),
    request.method,
    // A client's bytes must not reach the terminal as a control sequence.
    request.url.replaceAll(/[^\x20-\x7e]/g, "?"),
    paint(GREY, `${endedAt - at} ms${faulty ? " (scripted)" : ""}${request.code ? ` ${request.code}` : ""}`),
  ];
  return `${parts.join(" ")}\n`;
}
