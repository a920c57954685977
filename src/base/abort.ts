import { ignoreErrors } from "./check.ts";

/** The listeners of one signal, behind the one that the platform has. */
interface Subscription {
  readonly listeners: Set<() => void>;
  readonly end: () => void;
}

const subscriptions = new WeakMap<AbortSignal, Subscription>();

/**
 * Runs `listener` once when `signal` aborts, at once if it has aborted already. However many calls share a signal, the
 * platform has one listener of this library on it: platforms search a long list at each removal, and Node warns of more
 * than ten. Works with signals of another realm, which `AbortSignal.any` refuses.
 *
 * @param listener a function that was not added to this signal before
 * @returns a function that removes the listener
 */
export function onAbort(signal: AbortSignal, listener: () => void): () => void {
  if (signal.aborted) {
    listener();
    return () => {};
  }
  const subscription = subscriptions.get(signal) ?? subscribe(signal);
  subscription.listeners.add(listener);
  return () => {
    subscription.listeners.delete(listener);
    if (subscription.listeners.size === 0) subscription.end();
  };
}

function subscribe(signal: AbortSignal): Subscription {
  const listeners = new Set<() => void>();
  const run = (): void => {
    end();
    for (const listener of listeners) listener();
  };
  const end = (): void => {
    // A signal of the caller's own may fail here, when its call is over.
    ignoreErrors(() => signal.removeEventListener("abort", run));
    // Another subscription may have begun since.
    if (subscriptions.get(signal)?.listeners === listeners) subscriptions.delete(signal);
  };
  const subscription = { listeners, end };
  signal.addEventListener("abort", run);
  subscriptions.set(signal, subscription);
  return subscription;
}
