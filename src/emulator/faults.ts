import { BOOLEAN, countFrom, functions, INVALID, oneOf, type Shape, validator } from "../core/checks/validators.ts";
import { atOnce, check, checkHeaders, headerFields, integer } from "./checks.ts";
import { OPERATION_NAMES, type OperationName } from "./endpoints.ts";
import type { RecordedRequest } from "./request-log.ts";
import { encodeBody, type HeaderScript } from "./response.ts";

/** The body of a response that holds a JSON object. */
export type JsonBody = Record<string, unknown>;

/**
 * A scripted failure. The first group of fields says which requests it applies to, the second what happens to them; what
 * is left out stays as the service would do it. Only a request that it changed uses it up.
 */
export interface Fault {
  /** The operations it applies to; without it, every request, also one that addresses no operation. */
  readonly operation?: OperationName | readonly OperationName[] | undefined;
  /** A finer choice among those. */
  readonly match?: ((request: RecordedRequest) => boolean) | undefined;
  /** Matching requests that pass before the first hit. @default 0 */
  readonly skip?: number | undefined;
  /** Requests that it changes; `Infinity` until it is removed. @default 1 */
  readonly times?: number | undefined;

  /** Responds with this status (200 to 599) in place of the operation, which is not carried out: see `apply`. */
  readonly status?: number | undefined;
  /** The body, of a `status` or in place of the service's: a string or bytes as they are, anything else as JSON. */
  readonly body?: unknown;
  /** Header fields to set (an array repeats the field), or, with `null`, to leave out. */
  readonly headers?: HeaderScript | undefined;
  /** With `status`: carries the operation out all the same, and then responds with `status`. @default false */
  readonly apply?: boolean | undefined;
  /** Breaks the connection in place of a response, before or after the operation was carried out. */
  readonly drop?: "before" | "after" | undefined;
  /** Responds so many milliseconds late; `Infinity` never responds. The operation is carried out on arrival. */
  readonly delayMs?: number | undefined;
  /** Breaks the connection behind so many bytes of the response body. */
  readonly cutAfterBytes?: number | undefined;
  /** Sends so many bytes of the response body, then nothing, and keeps the connection open. */
  readonly stallAfterBytes?: number | undefined;
  /**
   * Of a list, responds with `"empty"`, a page without items whose cursor leads to where the request itself led, so that
   * nothing is lost; or with `"loop"`, a page whose cursor leads back to this very page.
   */
  readonly page?: "empty" | "loop" | undefined;
  /** Changes the JSON object that the service responds with. What it returns is sent; its argument may be altered. */
  readonly transform?: ((body: JsonBody, request: RecordedRequest) => unknown) | undefined;
}

/** A fault in force. */
export interface FaultHandle {
  /** The number of requests that it has changed. */
  readonly hits: number;
  /** Takes it out of force. Idempotent. */
  remove(): void;
}

const OPERATION = validator(`one or several of ${OPERATION_NAMES.join(", ")}`, (value) => {
  const names = [value].flat().map(oneOf(...OPERATION_NAMES).parse);
  return names.every((name) => name !== INVALID) ? names : INVALID;
});

const BODY = validator("text, bytes or JSON", (value) => {
  try {
    return encodeBody(value) === undefined ? INVALID : value;
  } catch {
    // It is no JSON.
    return INVALID;
  }
});

const CHOICE = {
  operation: OPERATION,
  match: functions<NonNullable<Fault["match"]>>(),
  skip: integer(0),
  times: countFrom(1),
} satisfies Shape<Pick<Fault, "operation" | "match" | "skip" | "times">>;
const FAULT = {
  ...CHOICE,
  status: integer(200, 599),
  body: BODY,
  headers: headerFields<HeaderScript>(),
  apply: BOOLEAN,
  drop: oneOf("before", "after"),
  delayMs: countFrom(0),
  cutAfterBytes: integer(0),
  stallAfterBytes: integer(0),
  page: oneOf("empty", "loop"),
  transform: functions<NonNullable<Fault["transform"]>>(),
} satisfies Shape<Fault>;

/** Fields that contradict each other. */
const CONTRADICTIONS: readonly (readonly [keyof Fault, readonly (keyof Fault)[]])[] = [
  ["drop", ["status", "body", "headers", "cutAfterBytes", "stallAfterBytes", "page", "transform"]],
  ["status", ["page", "transform"]],
  ["body", ["transform"]],
  ["cutAfterBytes", ["stallAfterBytes"]],
];

export interface ActiveFault {
  readonly fault: Fault;
  seen: number;
  hits: number;
}

export class Faults {
  readonly #active = new Set<ActiveFault>();

  /** Oldest first, those that are used up included. */
  all(): ActiveFault[] {
    return [...this.#active];
  }

  /** Throws a `TypeError` for a fault that is malformed, contradicts itself or does nothing. */
  add(fault: Fault): FaultHandle {
    const active: ActiveFault = { fault: parseFault(fault), seen: 0, hits: 0 };
    this.#active.add(active);
    return {
      get hits(): number {
        return active.hits;
      },
      remove: () => void this.#active.delete(active),
    };
  }

  /**
   * The fault for `request`: of those that are due, the oldest. Every fault counts the requests that match it, also those
   * that another one took; so `skip: 1` is the second attempt, whatever happened to the first.
   */
  take(request: RecordedRequest): ActiveFault | undefined {
    let taken: ActiveFault | undefined;
    for (const active of this.#active) {
      const { skip = 0, times = 1 } = active.fault;
      if (!matches(active.fault, request)) continue;
      active.seen += 1;
      if (active.seen > skip && active.hits < times) taken ??= active;
    }
    return taken;
  }
}

function matches({ operation, match, page }: Fault, request: RecordedRequest): boolean {
  const operations = operation === undefined ? undefined : [operation].flat();
  if (operations !== undefined && !operations.some((name) => name === request.operation)) return false;
  if (page !== undefined && !request.operation?.endsWith(".list")) return false;
  return match === undefined || atOnce(match(request), "what fault.match returns");
}

function parseFault(given: Fault): Fault {
  const fault = check.options(given, "fault", FAULT);
  checkHeaders(fault.headers ?? {}, "fault.headers");
  const has = (key: string): boolean => Object.hasOwn(fault, key);
  if (Object.keys(fault).every((key) => key in CHOICE)) check.fail("fault: says nothing that happens");
  for (const [left, others] of CONTRADICTIONS) {
    const right = others.find(has);
    if (has(left) && right !== undefined) check.fail(`fault: ${left} and ${right} contradict each other`);
  }
  if (has("apply") && !has("status")) check.fail("fault.apply needs fault.status; see also fault.drop");
  return fault;
}
