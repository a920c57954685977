import type { Context } from "../core/call/settings.ts";
import { JournalError } from "../core/errors/journal-error.ts";
import { Deadline } from "../core/time/deadline.ts";
import { isLoopback, type Service } from "../core/wire/service.ts";
import type { Known } from "./journal.ts";

const EMULATOR_HOST = "emulator.invalid";

/** The key of an emulator's world in its tokens: eight characters behind their prefix. */
const WORLD = /^emu_([^_]{8})/;

const TOKEN_MS = 30_000;

/**
 * The address of a write with this token, as records have it: origin and base path; of an emulator also its world, since one
 * address has a new world with each start. `""` is a token that is not known.
 */
export function addressOf(service: Service, token: string): string {
  const [, world] = WORLD.exec(token) ?? [];
  return world !== undefined && mayBeEmulator(service) ? `${service}#${world}` : service;
}

function mayBeEmulator(service: Service): boolean {
  const { hostname } = new URL(service);
  return isLoopback(hostname) || hostname === EMULATOR_HOST;
}

/**
 * The token of a run: that of its client, or what a provider returns. A provider is asked only if the world of an emulator may
 * matter. `""` if it returns none: the first call says why.
 */
export async function tokenOfRun(
  { own: { baseUrl, tokenSource }, signal }: { readonly own: Context; readonly signal?: AbortSignal | undefined },
  hasRecords: boolean,
): Promise<string> {
  if (tokenSource.isHeld) return tokenSource.current;
  if (!hasRecords || !mayBeEmulator(baseUrl)) return "";
  const limit = Deadline.of(TOKEN_MS, signal);
  try {
    return await tokenSource.tokenFor({
      rejected: undefined,
      rejectedBefore: undefined,
      isRotation: false,
      isPaused: () => false,
      inTime: (work) => limit.race(work(limit)),
    });
  } catch {
    return "";
  } finally {
    limit.release();
  }
}

/**
 * Checks that the records of a journal are of the address of a run. Returns whether some are of an emulator that is gone.
 *
 * @param isCertain the token of the run is known: without the world of an emulator, the service is none
 * @throws JournalError `misused` for a record of another service
 */
export function areOfGoneEmulator(records: Iterable<Known>, own: string, isCertain: boolean): boolean {
  let areOfGone = false;
  for (const { service } of records) {
    if (service === undefined) continue; // it is not believed
    if (isGone(service, own)) areOfGone = true;
    else if (!isSame(service, own, isCertain)) throw anotherService(service, own);
  }
  return areOfGone;
}

/**
 * A record as far as a run may believe it. One that names no service says only that a request left. One of an emulator that is
 * gone says nothing but its revision.
 */
export function believed(record: Known, own: string): Known {
  const { service, state, at, revision } = record;
  if (service !== undefined) return isGone(service, own) ? { state: "not_sent", at, revision } : record;
  if (state !== "done" && state !== "refused") return record;
  const message = "the journal does not keep which service has it";
  return { ...record, state: "unknown", reason: { kind: "journal", message, recordedAt: at } };
}

/** `true` if both are emulators, and their worlds differ. One world at two addresses may be one emulator, which still has it all. */
function isGone(theirs: string, own: string): boolean {
  const [, theirWorld] = theirs.split("#");
  const [, world] = own.split("#");
  return theirWorld !== undefined && world !== undefined && theirWorld !== world;
}

/** Of a provider's token, and with it of the world, nothing may be known: then the service alone tells. */
function isSame(theirs: string, own: string, isCertain: boolean): boolean {
  const [theirService, theirWorld] = theirs.split("#");
  const [service, world] = own.split("#");
  const isSameWorld = theirWorld === undefined || theirWorld === world || (world === undefined && !isCertain);
  return theirService === service && isSameWorld;
}

function anotherService(theirs: string, own: string): JournalError {
  const message = `the journal is that of ${theirs}, and this run writes to ${own}: use a journal for each service`;
  return new JournalError(message, { reason: "misused" });
}
