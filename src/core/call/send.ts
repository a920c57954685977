import { invalid } from "../checks/invalid-input.ts";
import { isRecord } from "../checks/values.ts";
import { asErrorClass } from "../errors/as-error-class.ts";
import { type AnyAutomationError, ArgumentError } from "../errors/classes.ts";
import { type ListOperation, paginate } from "../list.ts";
import type { Paginator } from "../paging/paginator.ts";
import type { Redactor } from "../secrets/redact.ts";
import { StaticToken } from "../token/static-token.ts";
import { encodeQuery } from "../wire/query.ts";
import type { Service } from "../wire/service.ts";
import { type ApiPromise, apiPromise, type Success } from "./api-promise.ts";
import { attempt, takePosition } from "./attempt.ts";
import { Call } from "./call.ts";
import { callError, stoppedError } from "./create-error.ts";
import { redactorOf } from "./internals.ts";
import type { Caller, Operation, OperationFields, Origin } from "./operation.ts";
import { parseOutput } from "./output.ts";
import { withRetries } from "./retry.ts";
import type { Context } from "./settings.ts";

// One call runs through these stages, each in a file of its own:
//   send      checks the arguments, makes the call, turns whatever ends it into one error
//   retry     repeats the attempt while it fails for a reason that may pass
//   attempt   gets a token and a slot; waits out a 429, renews the token after a 401
//   exchange  sends one request and reads its response
//   http      hands the request to ky, and ky to fetch
//   output    validates the response

/** The way of every call of a client. Resources get it, and never the client. */
export class Send implements Caller {
  readonly #client: Context;

  constructor(client: Context) {
    this.#client = client;
  }

  get service(): Service {
    return this.#client.baseUrl;
  }

  get totalTimeoutMs(): number {
    return this.#client.totalTimeoutMs;
  }

  method<Args extends readonly unknown[], Output>(
    name: string,
    describe: (...args: Args) => OperationFields<Output>,
  ): (...args: Args) => ApiPromise<Output> {
    const method = (...args: Args): ApiPromise<Output> =>
      apiPromise(method, () => this.call(name, () => describe(...args)));
    return method;
  }

  list<Args extends readonly unknown[], Item>(
    name: string,
    describe: (...args: Args) => ListOperation<Item>,
  ): (...args: Args) => Paginator<Item> {
    return (...args) => paginate(this, name, () => describe(...args));
  }

  /** Sends one operation. Rejects with errors of this library only, and never throws. */
  async call<Output>(
    name: string,
    describe: () => OperationFields<Output>,
    origin: Origin<Output> = {},
  ): Promise<Success<Output>> {
    let call: Call | undefined;
    let failure: AnyAutomationError | undefined;
    let success: Success<Output> | undefined;
    try {
      call = this.parse(name, () => new Call(this.#client, withExtra({ name, label: name, ...describe() }), origin));
      success = await run(call, origin);
      return success;
    } catch (error) {
      failure = call === undefined ? (error as AnyAutomationError) : callError(call, error); // arguments fail with ours alone
      throw failure;
    } finally {
      call?.finish(failure, success?.data);
    }
  }

  /** Reads arguments before there is anything to send. Throws the error that a call would reject with. */
  parse<Result>(name: string, read: () => Result): Result {
    return asErrorClass(ArgumentError, read, (problem) => this.#redactor.text(`${name}: ${problem}`));
  }

  /** Makes the `plaintext` of what `rotate` resolves the client's token. Rejects where the client does not hold its token. */
  async adopt<Created>(rotate: () => Promise<Success<Created>>): Promise<Success<Created>> {
    const { tokenSource } = this.#client;
    if (tokenSource instanceof StaticToken) {
      const rotation = rotate();
      await tokenSource.adopt(async () => (await rotation).data);
      return await rotation;
    }
    const message = "adopt is for a static token; this client has a token provider or a rotating token";
    throw new ArgumentError(`tokens.rotate: ${message}`, { outcome: "not_sent" });
  }

  holdsToken(text: string): boolean {
    return this.#redactor.holdsToken(text);
  }

  short(text: string): string | undefined {
    return this.#redactor.short(text);
  }

  get #redactor(): Redactor {
    return redactorOf(this.#client);
  }
}

async function run<Output>(call: Call, { progress }: Origin<Output>): Promise<Success<Output>> {
  const { deadline, events } = call;
  call.begin();
  if (deadline.reason !== undefined) throw stoppedError(call, { deadline, phase: "queue" });
  const permit = takePosition(call);
  const received = await withRetries(call, () => attempt(call, permit));
  const data = (await parseOutput(call, received)) as Output; // the schema of the operation says that it is one
  const event = progress?.(data, events?.waitedMs ?? 0);
  if (event !== undefined) events?.emit(event);
  const { head } = received; // the promise of a call may be kept, and the text of a body is large
  return { data, call, head };
}

/**
 * Adds `extra` of the call's options to its query and its body. A name that the method sends itself is refused, as is a body
 * where there is none.
 */
function withExtra<Output>(operation: Operation<Output>): Operation<Output> {
  const { extra } = operation.options;
  if (extra === undefined) return operation;
  const { fields, json } = operation;
  if (fields === undefined) invalid("extra is for methods of the client: this request has query and json of its own");
  const { query = {}, json: members = {} } = extra;
  if (extra.json !== undefined && !isRecord(json)) invalid("options.extra.json: this method sends no body");
  for (const [place, names] of Object.entries({ query, json: members })) {
    const own = Object.keys(names).find((name) => fields.includes(name));
    if (own !== undefined) invalid(`options.extra.${place} must not have ${own}, which the method sends itself`);
  }
  const queries = [operation.query, encodeQuery(query)].filter((part) => part);
  return Object.assign(operation, {
    query: queries.join("&"),
    json: extra.json === undefined ? json : { ...(json as object), ...members }, // a record, checked above
  });
}
