import { flawOfEnvironment } from "../checks/globals.ts";
import { asErrorClass } from "../errors/as-error-class.ts";
import { type AnyAutomationError, ArgumentError, ConfigError } from "../errors/classes.ts";
import { Redactor } from "../secrets/redact.ts";
import { StaticToken } from "../token/static-token.ts";
import type { Success } from "./api-promise.ts";
import { apiResponse } from "./api-response.ts";
import { attempt, takePosition } from "./attempt.ts";
import { Call } from "./call.ts";
import { callError, stoppedError } from "./create-error.ts";
import { addExtra } from "./extra.ts";
import type { OperationFields, Origin, Send } from "./operation.ts";
import { readOutput } from "./output.ts";
import { withRetries } from "./retry.ts";
import type { ClientContext } from "./settings.ts";

// One call runs through these stages, each in a file of its own:
//   send      checks the arguments, makes the call, turns whatever ends it into one error
//   retry     repeats the attempt while it fails for a reason that may pass
//   attempt   gets a token and a slot; waits out a 429, renews the token after a 401
//   exchange  sends one request and reads its response
//   http      hands the request to ky, and ky to fetch
//   output    validates the response

/** The way of every call of a client. Rejects with errors of this library only, and never throws. */
export function createSend(client: ClientContext): Send {
  const { tokenSource, baseUrl: service, headers, totalTimeoutMs } = client;
  const redactor = (): Redactor => new Redactor({ tokens: [tokenSource.current], headers });
  const check = <Result>(name: string, read: () => Result): Result =>
    asErrorClass(ArgumentError, read, (flaw) => redactor().text(`${name}: ${flaw}`));

  async function send<Output>(name: string, describe: () => OperationFields<Output>, origin: Origin<Output> = {}) {
    let call: Call | undefined;
    let failure: AnyAutomationError | undefined;
    let success: Success<Output> | undefined;
    try {
      const flaw = flawOfEnvironment(name, "Headers", "Request", "Response");
      if (flaw !== undefined) throw new ConfigError(flaw, { outcome: "not_sent" });
      call = check(name, () => {
        return new Call(client, addExtra({ name, label: name, ...describe() }), origin);
      });
      success = await run(call, origin);
      return success;
    } catch (error) {
      failure = call === undefined ? (error as AnyAutomationError) : callError(call, error); // arguments fail with ours alone
      throw failure;
    } finally {
      call?.finish(failure, success?.data);
    }
  }

  const adopt: Send["adopt"] = async (rotate) => {
    if (tokenSource instanceof StaticToken) {
      const rotation = rotate();
      await tokenSource.adopt(async () => (await rotation).data);
      return await rotation;
    }
    const message = "adopt is for a static token; this client has a token provider or a rotating token";
    throw new ArgumentError(`tokens.rotate: ${message}`, { outcome: "not_sent" });
  };
  const short = (text: string): string | undefined => redactor().short(text);
  return Object.assign(send, { adopt, check, short, service, totalTimeoutMs });
}

async function run<Output>(call: Call, { progress }: Origin<Output>): Promise<Success<Output>> {
  const { deadline, events, settings } = call;
  settings.hooks?.begin?.(call.hooked);
  if (deadline.reason !== undefined) throw stoppedError(call, { deadline, phase: "queue" });
  const permit = takePosition(call);
  const received = await withRetries(call, () => attempt(call, permit));
  const data = (await readOutput(call, received)) as Output; // the schema of the operation says that it is one
  const step = progress?.(data, events?.waitedMs ?? 0);
  if (step !== undefined) events?.emit(step);
  const { head } = received; // the promise of a call may be kept, and the text of a body is large
  return { data, response: () => apiResponse(call, head) };
}
