/** Promises and async iterables that a test takes apart. */

/** What a promise rejects with; fails if it resolves. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error("expected a rejection, but it resolved");
}

/** The items of an async iterable, up to its end or `max` of them, and the error that ended it. */
export async function drain<Item>(
  iterable: AsyncIterable<Item>,
  max = Number.POSITIVE_INFINITY,
): Promise<{ items: Item[]; error: unknown }> {
  const items: Item[] = [];
  try {
    for await (const item of iterable) {
      items.push(item);
      if (items.length >= max) break;
    }
    return { items, error: undefined };
  } catch (error) {
    return { items, error };
  }
}

/** A promise and the function that resolves it. */
export function gate(): { readonly opened: Promise<void>; open(): void } {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}
