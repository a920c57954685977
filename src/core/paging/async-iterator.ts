/** An iterator as a generator is one: with `return()`, and with what the platform gives all of them, such as `await using`. */
export type Walk<Value> = AsyncGenerator<Value, void, undefined>;

/** The members of an iterator that are its own. */
type Members<Value> = Pick<Walk<Value>, "next" | "return" | "throw" | typeof Symbol.asyncIterator>;

/** Makes an iterator of its members. The rest comes from the prototype of the platform's async iterators. */
export function walkOf<Value>(members: Members<Value>): Walk<Value> {
  // A global `AsyncIterator` is rare. Compiled for an older platform, a generator function has no prototype of its own kind.
  const { prototype = {} } = Object.getPrototypeOf(async function* () {}) as { prototype?: object };
  const parent = Object.getPrototypeOf(prototype) as object;
  return Object.assign(Object.create(parent) as Walk<Value>, members); // together they are one
}

/**
 * Makes an iterator that begins with its first `next()`, and is iterable: each `for await` before that is a walk of its own,
 * from the start; one after it goes on from there.
 */
export function lazyWalk<Value>(start: () => Walk<Value>): Walk<Value> {
  let begun: Walk<Value> | undefined;
  const begin = (): Walk<Value> => (begun ??= start());
  return walkOf({
    [Symbol.asyncIterator]: () => begun ?? start(),
    next: () => begin().next(),
    return: () => begin().return(),
    throw: (error) => begin().throw(error),
  });
}
