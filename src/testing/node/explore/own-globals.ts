import { AsyncLocalStorage, AsyncResource, createHook } from "node:async_hooks";
import files, { type FileHandle } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import timers from "node:timers";
import timersPromises from "node:timers/promises";
import { promisify } from "node:util";
import { type OwnTime, OwnTimer, platform, type Task } from "./own-time.ts";

/** One start of a program, which its async context leads to. */
export interface Life {
  readonly time: OwnTime;
  /** The files that it has opened. */
  readonly files: Set<FileHandle>;
  /** Called with each unhandled rejection. */
  readonly onUnhandled: (reason: unknown) => void;
  readonly hasEnded: boolean;
}

const lives = new AsyncLocalStorage<Life>();

/** Calls a function so that all it begins belongs to `life`. */
export function runIn<Result>(life: Life, run: () => Result): Result {
  return lives.run(life, run);
}

const ownTime = (): OwnTime | undefined => lives.getStore()?.time;

type Callback = (...args: unknown[]) => unknown;

function taskOf(callback: Callback, ms: number | undefined, args: readonly unknown[]): Omit<Task, "repeats"> {
  const bound = AsyncResource.bind(callback);
  return { run: () => void bound(...args), delayMs: Number(ms ?? 1) };
}

function starter(repeats: boolean) {
  const start = repeats ? platform.setInterval : platform.setTimeout;
  return (callback: Callback, ms?: number, ...args: unknown[]): unknown =>
    ownTime()?.set({ ...taskOf(callback, ms, args), repeats }) ?? start(callback, ms, ...args);
}

function clear(timer: unknown): void {
  if (timer instanceof OwnTimer) timer.close();
  else {
    if (typeof timer === "number" || typeof timer === "string") ownTime()?.stopById(Number(timer));
    platform.clearTimeout(timer as NodeJS.Timeout); // what the platform does not know, it ignores
  }
}

const real = { setTimeout: timersPromises.setTimeout, setInterval: timersPromises.setInterval };

interface WaitOptions {
  readonly signal?: AbortSignal;
  readonly ref?: boolean;
}

function wait<Value>(ms?: number, value?: Value, options: WaitOptions = {}): Promise<Value | undefined> {
  const time = ownTime();
  if (time === undefined) return real.setTimeout(ms, value, options);
  const { signal } = options;
  return new Promise((resolve, reject) => {
    const fail = (): void => {
      timer.close();
      reject(
        Object.assign(new Error("The operation was aborted", { cause: signal?.reason }), {
          name: "AbortError",
          code: "ABORT_ERR",
        }),
      );
    };
    const done = (): void => {
      signal?.removeEventListener("abort", fail);
      resolve(value);
    };
    const timer = time.set({ ...taskOf(done, ms, []), repeats: false });
    if (options.ref === false) timer.unref();
    if (signal?.aborted === true) fail();
    else signal?.addEventListener("abort", fail, { once: true });
  });
}

async function* waits<Value>(ms?: number, value?: Value, options: WaitOptions = {}): AsyncGenerator<Value | undefined> {
  if (ownTime() === undefined) yield* real.setInterval(ms, value, options);
  else while (true) yield await wait(ms, value, options);
}

function timeoutSignal(ms: number): AbortSignal {
  const time = ownTime();
  if (time === undefined) return platform.timeout(ms);
  const controller = new AbortController();
  const expire = (): void =>
    controller.abort(new DOMException("The operation was aborted due to timeout", "TimeoutError"));
  time.set({ ...taskOf(expire, ms, []), repeats: false });
  return controller.signal;
}

const ownDate = (): DateConstructor => {
  const OwnDate: DateConstructor = new Proxy(platform.Date, {
    construct: (target, args, newTarget): object => {
      const time = ownTime();
      const given: readonly unknown[] = args.length === 0 && time !== undefined ? [time.date()] : args;
      return Reflect.construct(target, given, newTarget === OwnDate ? target : newTarget) as object; // a date
    },
    apply: (target) => new target(dateNow()).toString(),
    get: (target, name): unknown => (name === "now" ? dateNow : Reflect.get(target, name)),
  });
  return OwnDate;
};

function dateNow(): number {
  return ownTime()?.date() ?? platform.Date.now();
}

const replacedTimeout = Object.assign(starter(false), { [promisify.custom]: wait });

/** As the platform's, until the start has ended. An error of the function is the program's. */
function setOwnImmediate(callback: Callback, ...args: unknown[]): NodeJS.Immediate {
  const life = lives.getStore();
  if (life === undefined) return platform.setImmediate(callback, ...args);
  return platform.setImmediate(() => {
    if (life.hasEnded) return;
    try {
      callback(...args);
    } catch (error) {
      life.onUnhandled(error);
    }
  });
}

const replacedImmediate = Object.assign(setOwnImmediate, {
  [promisify.custom]: <Value>(value?: Value): Promise<Value | undefined> =>
    new Promise((resolve) => setOwnImmediate(() => resolve(value))),
});

const platformOpen = files.open;

/** Notes the file, so that it is closed with the run. */
async function openFile(...args: Parameters<typeof files.open>): Promise<FileHandle> {
  const opened = lives.getStore()?.files;
  const file = await platformOpen(...args);
  opened?.add(file);
  return file;
}

/** Puts `replacements` on an object; returns what puts back what was there. */
function replace(target: object, replacements: Readonly<Record<string, unknown>>): () => void {
  const before = Object.keys(replacements).map(
    (name) => [name, Object.getOwnPropertyDescriptor(target, name)] as const,
  );
  for (const [name, value] of Object.entries(replacements))
    Object.defineProperty(target, name, { value, writable: true, configurable: true, enumerable: true });
  return () => {
    for (const [name, descriptor] of before) {
      if (descriptor === undefined) Reflect.deleteProperty(target, name);
      else Object.defineProperty(target, name, descriptor);
    }
  };
}

/**
 * Gives each program its own time, notes its files and takes its unhandled rejections, by its async context: the rest of the
 * process meets the platform. Returns what undoes it.
 */
export function installOwnGlobals(): () => void {
  const ownTimers = {
    setTimeout: replacedTimeout,
    setInterval: starter(true),
    setImmediate: replacedImmediate,
    clearTimeout: clear,
    clearInterval: clear,
  };
  const restores = [
    replace(globalThis, { ...ownTimers, Date: ownDate() }),
    replace(timers, ownTimers),
    replace(performance, { now: () => ownTime()?.now() ?? platform.now() }),
    replace(AbortSignal, { timeout: timeoutSignal }),
    replace(files, { open: openFile }),
    replace(timersPromises, { setTimeout: wait, setInterval: waits }),
    replace(timersPromises.scheduler, { wait: (ms: number, options?: WaitOptions) => wait(ms, undefined, options) }),
    takeRejections(),
  ];
  syncBuiltinESMExports();
  return () => {
    for (const restore of restores) restore();
    syncBuiltinESMExports();
  };
}

/** Gives each unhandled rejection to the start that made its promise. Other rejections go where they went before. */
function takeRejections(): () => void {
  const owners = new WeakMap<object, Life>();
  const hook = createHook({
    init: (...[, type, , resource]) => {
      const life = type === "PROMISE" ? lives.getStore() : undefined;
      if (life !== undefined) owners.set(resource, life);
    },
  });
  const others = process.rawListeners("unhandledRejection") as NodeJS.UnhandledRejectionListener[]; // of this event
  const listen = (reason: unknown, promise: Promise<unknown>): void => {
    const life = owners.get(promise);
    if (life !== undefined) life.onUnhandled(reason);
    else if (others.length === 0) throw reason;
    else for (const other of others) other(reason, promise);
  };
  process.removeAllListeners("unhandledRejection");
  process.on("unhandledRejection", listen);
  hook.enable();
  return () => {
    hook.disable();
    process.off("unhandledRejection", listen);
    for (const other of others) process.on("unhandledRejection", other);
  };
}
