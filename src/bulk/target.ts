import type { Context } from "../core/call/settings.ts";
import { JournalError } from "../core/errors/journal-error.ts";
import { Deadline } from "../core/time/deadline.ts";
import { isLoopback, type Service } from "../core/wire/service.ts";
import type { Known } from "./journal.ts";

const EMULATOR_HOST = "emulator.invalid";

/** The key of an emulator's world in its tokens: eight characters behind their prefix. */
const WORLD = /^emu_([^_]{8})/;

const TOKEN_MS = 30_000;

/** The target of a record: the service that it is true of, and the token, as records have them. */
export interface Target {
  readonly service: string;
  readonly token?: string;
}

export class Targets {
  readonly service: Service;
  #latest: { readonly token: string; readonly target: Target } | undefined;

  constructor(service: Service) {
    this.service = service;
  }

  /** The target of a write with this token; `""` is a token that is not known. */
  of(token: string): Target {
    if (this.#latest?.token !== token) {
      const known = token === "" ? {} : { token: hashOfToken(token) };
      this.#latest = { token, target: { service: this.#address(token), ...known } };
    }
    return this.#latest.target;
  }

  /** Origin and base path; of an emulator also its world, since one address has a new world with each start. */
  #address(token: string): string {
    const { hostname } = new URL(this.service);
    const isEmulator = isLoopback(hostname) || hostname === EMULATOR_HOST;
    const [, world] = isEmulator ? (WORLD.exec(token) ?? []) : [];
    return world === undefined ? this.service : `${this.service}#${world}`;
  }
}

/**
 * The token of a run: that of its client, or what a provider returns in the context of the run, since its latest one may be
 * another user's. It is asked if there are records; `""` if it returns none: the first call says why.
 */
export async function tokenOfRun(
  { own: { tokenSource }, signal }: { readonly own: Context; readonly signal?: AbortSignal | undefined },
  hasRecords: boolean,
): Promise<string> {
  if (tokenSource.isHeld) return tokenSource.current;
  if (!hasRecords) return "";
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

interface Belonging {
  readonly isOfOtherToken: boolean;
  /** Some are of an emulator that is gone. */
  readonly isOfGoneWorld: boolean;
}

/**
 * Checks that the records of a journal are of the service of a run, or of an emulator before that of the run.
 *
 * @throws JournalError `misused` for a record of another service
 */
export function checkTarget(records: Iterable<Known>, own: Target): Belonging {
  const tokens = new Set<string | undefined>();
  let isOfGoneWorld = false;
  for (const { service, token } of records) {
    if (service === undefined) continue; // it is not believed
    if (isGone(service, own.service)) isOfGoneWorld = true;
    else if (isOurs(service, own)) tokens.add(token);
    else throw anotherService(service, own.service);
  }
  const isOfOtherToken = tokens.size > 0 && own.token !== undefined && !tokens.has(own.token);
  return { isOfOtherToken, isOfGoneWorld };
}

/**
 * A record as far as a run may believe it. One that names no service says only that a request left. One of an emulator that is
 * gone says nothing but its revision.
 */
export function believed(record: Known, own: Target): Known {
  const { service, state, at, revision } = record;
  if (service !== undefined) return isGone(service, own.service) ? { state: "not_sent", at, revision } : record;
  if (state !== "done" && state !== "refused") return record;
  const message = "the journal does not keep which service has it";
  return { ...record, state: "unknown", reason: { kind: "journal", message, recordedAt: at } };
}

/** `true` if both are emulators, and their worlds differ. One world at two addresses may be one emulator, which still has it all. */
function isGone(theirs: string, own: string): boolean {
  const [theirWorld = "", ownWorld = ""] = [theirs, own].map((service) => service.replace(/^[^#]*/, ""));
  return theirWorld !== "" && ownWorld !== "" && !isSame(theirWorld, ownWorld);
}

/** With a known token that is none of an emulator's, a service is no emulator. */
function isOurs(theirs: string, { service, token }: Target): boolean {
  const isOfEmulator = theirs.includes("#") && !service.includes("#");
  return isSame(theirs, service) && !(isOfEmulator && token !== undefined);
}

/** A provider's token, and with it the world, is not known before its first call: then the rest tells. */
function isSame(theirs: string, own: string): boolean {
  const parts = theirs.split("#");
  return own.split("#").every((part, index) => part === (parts[index] ?? part));
}

function anotherService(theirs: string, own: string): JournalError {
  const message = `the journal is that of ${theirs}, and this run writes to ${own}: use a journal for each service`;
  return new JournalError(message, { reason: "misused" });
}

/**
 * A short hash of a token, 48 bits of FNV-1a: enough to tell the tokens of one journal apart, and no part of the token. Not by
 * Web Crypto, which answers in a later turn: fake timers drive a run.
 */
function hashOfToken(token: string): string {
  let hash = 0xcbf29ce484222325n;
  for (const character of token) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(character.codePointAt(0) ?? 0)) * 0x100000001b3n);
  }
  return ((hash >> 48n) ^ BigInt.asUintN(48, hash)).toString(16).padStart(12, "0");
}
