/** A reader of the stream of events. */
import { expect } from "vitest";
import type { PageEvent } from "../../src/page/events.ts";
import type { RunningEmulator } from "../../src/testing/node.ts";

export interface Reader extends AsyncDisposable {
  readonly events: readonly PageEvent[];
  /** All that was sent. */
  readonly text: () => string;
  /** Resolves when the stream has ended. */
  readonly ended: Promise<unknown>;
}

/** Reads the stream, and resolves with the snapshot there. */
export async function read({ page = "" }: Pick<RunningEmulator, "page">): Promise<Reader> {
  const leaving = new AbortController();
  const response = await fetch(new URL("/_emulator/events", page), { signal: leaving.signal });
  expect(response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
  let text = "";
  const events: PageEvent[] = [];
  let taken = 0;
  const consume = async (): Promise<void> => {
    for await (const chunk of (response.body ?? new ReadableStream<never>()).pipeThrough(new TextDecoderStream())) {
      text += chunk;
      for (let end = text.indexOf("\n\n", taken); end >= 0; end = text.indexOf("\n\n", taken)) {
        const fields = text.slice(taken, end).split("\n");
        taken = end + 2;
        const [type, data] = ["event: ", "data: "].map((name) =>
          fields.find((field) => field.startsWith(name))?.slice(name.length),
        );
        if (data === undefined) continue;
        const event = JSON.parse(data) as PageEvent; // the stream is the emulator's
        expect([event.v, event.type]).toEqual([1, type]);
        events.push(event);
      }
    }
  };
  const ended = consume().catch(() => undefined);
  await expect.poll(() => events.length).toBeGreaterThan(0);
  return {
    events,
    text: () => text,
    ended,
    [Symbol.asyncDispose]: async () => {
      leaving.abort();
      await ended;
    },
  };
}

export type Named<Type extends PageEvent["type"]> = Extract<PageEvent, { readonly type: Type }>;

/** The events of one type. */
export function told<Type extends PageEvent["type"]>({ events }: Reader, type: Type): readonly Named<Type>[] {
  return events.filter((event): event is Named<Type> => event.type === type);
}
