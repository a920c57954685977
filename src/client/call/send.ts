import { nullPrototype } from "../checks/values.ts";
import { asErrorClass } from "../errors/as-error-class.ts";
import { beginStackInAwaiter } from "../errors/caller-stack.ts";
import { type AnyAutomationError, ArgumentError, ConnectionError, isAutomationError } from "../errors/classes.ts";
import type { CreatedToken, Page } from "../models.ts";
import { Redactor } from "../secrets/redact.ts";
import { StaticToken } from "../token/static-token.ts";
import { attempt, enter } from "./attempt.ts";
import { Call } from "./call.ts";
import { buildError, stoppedError } from "./create-error.ts";
import type { Operation, Send } from "./operation.ts";
import { readOutput } from "./output.ts";
import { withRetries } from "./retry.ts";
import type { ClientContext } from "./settings.ts";

/**
 * The way of every call: arguments are checked, attempts are made until one succeeds or none may follow, and the response
 * is validated. Rejects with errors of this library only, and never throws.
 */
export function createSend(client: ClientContext): Send {
  const redactor = (): Redactor => new Redactor({ tokens: [client.tokenSource.current], headers: client.headers });
  const check = <Result>(name: string, read: () => Result): Result =>
    asErrorClass(ArgumentError, read, (flaw) => redactor().text(`${name}: ${flaw}`));

  async function send<Output>(name: string, describe: () => Omit<Operation<Output>, "name">): Promise<Output> {
    let call: Call | undefined;
    let failure: AnyAutomationError | undefined;
    let output: unknown;
    try {
      call = check(name, () => new Call(client, nullPrototype<Operation<Output>>({ name }, describe())));
      output = await run(call);
      return output as Output; // the schema of the operation says that it is one
    } catch (error) {
      failure = ownError(call, error);
      await beginStackInAwaiter(failure, send);
      throw failure;
    } finally {
      call?.finish(failure, output);
    }
  }

  const { totalTimeoutMs } = client;
  return Object.assign(send, { check, short: (text: string) => redactor().short(text), totalTimeoutMs });
}

async function run(call: Call): Promise<unknown> {
  const { deadline } = call;
  if (deadline.reason !== undefined) throw stoppedError(call, { deadline, phase: "queue" });
  call.settings.hooks?.begin?.(call.hooked);
  const output = call.operation.adopts ? await adopt(call) : await outputOf(call);
  call.handOut(output);
  const { walk } = call.operation;
  if (walk !== undefined) {
    walk.pages += 1;
    walk.items += (output as Page<unknown>).data.length; // its schema says that it is one
    call.events?.emit({ type: "page", ...walk });
  }
  return output;
}

async function outputOf(call: Call): Promise<unknown> {
  const permit = call.operation.permit ?? enter(call);
  return readOutput(call, await withRetries(call, () => attempt(call, permit)));
}

function adopt(call: Call): Promise<unknown> {
  const { tokenSource } = call.settings;
  if (!(tokenSource instanceof StaticToken)) {
    const what = "adopt is for a static token; this client has a token provider or a rotating token";
    throw buildError(ArgumentError, call, { what });
  }
  return tokenSource.adopt(() => outputOf(call) as Promise<CreatedToken>); // only what has a token as output adopts
}

function ownError(call: Call | undefined, error: unknown): AnyAutomationError {
  if (isAutomationError(error) || call === undefined) return error as AnyAutomationError; // arguments fail with ours alone
  // Something of the application's or the platform's, when the request may have been sent.
  const reached = { isSent: true };
  return buildError(ConnectionError, call, { what: "failed", thrown: error, reached, permanent: true });
}
