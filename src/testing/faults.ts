import { encodeBody } from "./bodies.ts";
import { checkInteger, checkRecord, isRecord } from "./checks.ts";
import type { OperationName } from "./conventions.ts";
import { OPERATION_NAMES } from "./conventions.ts";
import type { HeaderScript } from "./headers.ts";
import { scriptHeaders } from "./headers.ts";
import type { RecordedRequest } from "./request-log.ts";

/** The body of a response that holds a JSON object. */
export type JsonBody = Record<string, unknown>;

/**
 * Something that goes wrong, on purpose. The first group of fields says which requests it meets, the second what
 * happens to them; what is left out stays as the service would do it.
 */
export interface Fault {
  /** The operations it meets; without it, every request, also one that addresses no operation. */
  readonly operation?: OperationName | readonly OperationName[] | undefined;
  /** A finer choice among those. */
  readonly match?: ((request: RecordedRequest) => boolean) | undefined;
  /** How many matching requests pass before the first hit. Default 0. */
  readonly skip?: number | undefined;
  /** How many requests it hits. Default 1; `Infinity` until it is removed. */
  readonly times?: number | undefined;

  /** Answers with this status (200 to 599) in place of the operation, which is not carried out: see `apply`. */
  readonly status?: number | undefined;
  /** The body, of a `status` or in place of the service's: a string or bytes as they are, anything else as JSON. */
  readonly body?: unknown;
  /** Header fields to set (an array repeats the field), or, with `null`, to leave out. */
  readonly headers?: HeaderScript | undefined;
  /** With `status`: carries the operation out all the same, and then answers with `status`. Default `false`. */
  readonly apply?: boolean | undefined;
  /** Breaks the connection in place of an answer, before or after the operation was carried out. */
  readonly drop?: "before" | "after" | undefined;
  /** Answers so many milliseconds late; `Infinity` never answers. The operation is carried out on arrival. */
  readonly delayMs?: number | undefined;
  /** Breaks the connection behind so many bytes of the response body. */
  readonly cutAfterBytes?: number | undefined;
  /** Sends so many bytes of the response body, then nothing, and keeps the connection open. */
  readonly stallAfterBytes?: number | undefined;
  /**
   * Of a list, answers with `"empty"`, a page without items whose cursor leads to where the request itself led, so that
   * nothing is lost; or with `"loop"`, a page whose cursor leads back to this very page.
   */
  readonly page?: "empty" | "loop" | undefined;
  /** Changes the JSON object that the service answers with. What it returns is sent; its argument may be altered. */
  readonly transform?: ((body: JsonBody, request: RecordedRequest) => unknown) | undefined;
}

/** A fault in force. */
export interface FaultHandle {
  /** How many requests it has hit. */
  readonly hits: number;
  /** Takes it out of force. Idempotent. */
  remove(): void;
}

const KEYS = [
  "operation",
  "match",
  "skip",
  "times",
  "status",
  "body",
  "headers",
  "apply",
  "drop",
  "delayMs",
  "cutAfterBytes",
  "stallAfterBytes",
  "page",
  "transform",
] as const satisfies readonly (keyof Fault)[];

const CHOOSING: readonly string[] = ["operation", "match", "skip", "times"];
const ANSWERING: readonly string[] = [
  "status",
  "body",
  "headers",
  "cutAfterBytes",
  "stallAfterBytes",
  "page",
  "transform",
];

interface Active {
  readonly fault: Fault;
  readonly skip: number;
  readonly times: number;
  seen: number;
  hits: number;
}

/** The faults in force, oldest first. */
export class Faults {
  readonly #active = new Set<Active>();

  /** Throws a `TypeError` for a fault that is malformed, contradicts itself or does nothing. */
  add(fault: Fault): FaultHandle {
    const active: Active = { ...checkFault(fault), seen: 0, hits: 0 };
    this.#active.add(active);
    return {
      get hits(): number {
        return active.hits;
      },
      remove: () => void this.#active.delete(active),
    };
  }

  /**
   * The fault that meets `request`: of those that are due, the oldest. Every fault counts the requests it would have
   * met, also those that another one took; so "the second attempt" is the second, whatever became of the first.
   */
  take(request: RecordedRequest): Fault | undefined {
    let taken: Active | undefined;
    for (const active of this.#active) {
      if (!meets(active.fault, request)) continue;
      active.seen += 1;
      if (taken === undefined && active.seen > active.skip && active.hits < active.times) taken = active;
    }
    if (taken !== undefined) taken.hits += 1;
    return taken?.fault;
  }
}

function meets(fault: Fault, request: RecordedRequest): boolean {
  const operations = fault.operation === undefined ? undefined : [fault.operation].flat();
  const chosen =
    operations === undefined || (request.operation !== undefined && operations.includes(request.operation));
  return chosen && (fault.match === undefined || fault.match(request));
}

function checkFault(given: Fault): Pick<Active, "fault" | "skip" | "times"> {
  const record = checkRecord("fault", given, KEYS);
  const fault: Fault = { ...given };
  for (const name of [fault.operation ?? []].flat()) {
    if (!OPERATION_NAMES.includes(name))
      throw new TypeError(`fault.operation: unknown operation ${JSON.stringify(name)}`);
  }
  const skip = checkInteger("fault.skip", record["skip"], { min: 0, fallback: 0 });
  const times = checkInteger("fault.times", record["times"], { min: 1, fallback: 1, infinite: true });
  checkInteger("fault.status", record["status"], { min: 200, max: 599, fallback: 200 });
  checkInteger("fault.delayMs", record["delayMs"], { min: 0, fallback: 0, infinite: true });
  checkInteger("fault.cutAfterBytes", record["cutAfterBytes"], { min: 0, fallback: 0 });
  checkInteger("fault.stallAfterBytes", record["stallAfterBytes"], { min: 0, fallback: 0 });
  checkOneOf("fault.drop", record["drop"], ["before", "after"]);
  checkOneOf("fault.page", record["page"], ["empty", "loop"]);
  checkOneOf("fault.apply", record["apply"], [true, false]);
  for (const key of ["match", "transform"] as const) {
    if (record[key] !== undefined && typeof record[key] !== "function")
      throw new TypeError(`fault.${key} must be a function`);
  }
  if (fault.headers !== undefined) {
    if (!isRecord(fault.headers)) throw new TypeError("fault.headers must be an object");
    scriptHeaders(new Headers(), fault.headers);
  }
  encodeBody(fault.body);
  checkSense(record);
  return { fault, skip, times };
}

function checkSense(fault: Record<string, unknown>): void {
  const has = (key: string): boolean => fault[key] !== undefined;
  const clash = (left: string, right: string): never => {
    throw new TypeError(`fault: ${left} and ${right} contradict each other`);
  };
  if (!KEYS.some((key) => !CHOOSING.includes(key) && has(key))) throw new TypeError("fault: says nothing that happens");
  for (const key of ANSWERING) if (has("drop") && has(key)) clash("drop", key);
  for (const key of ["page", "transform"]) if (has("status") && has(key)) clash("status", key);
  if (has("body") && has("transform")) clash("body", "transform");
  if (has("cutAfterBytes") && has("stallAfterBytes")) clash("cutAfterBytes", "stallAfterBytes");
  if (has("apply") && !has("status")) throw new TypeError("fault.apply needs fault.status; see also fault.drop");
}

function checkOneOf(where: string, value: unknown, allowed: readonly unknown[]): void {
  if (value === undefined || allowed.includes(value)) return;
  throw new TypeError(`${where} must be ${allowed.map((one) => JSON.stringify(one)).join(" or ")}`);
}
