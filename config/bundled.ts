import { readFile } from "node:fs/promises";
import type { Plugin } from "esbuild";
import { type Given, leaveOut } from "./leave-out.ts";

/**
 * What the bundled packages are given here, file by file, and so what parts of them come to: what then never runs is
 * dropped. Why, and how that is known: docs/decisions/0007-what-never-runs-is-not-published.md.
 */
export const LEFT_OUT: Readonly<Record<string, Given>> = {
  // Called as a function, with options that are complete.
  "ky/distribution/index.js": {
    "validateAndMerge(defaults, options)": "options",
    "for (const method of requestMethods)": "",
    "ky.create = …": "undefined",
    "ky.extend = …": "undefined",
    "ky.stop = stop": "undefined",
    "ky.retry = retry": "undefined",
  },
  // It would make a request to learn what bodies the platform takes. The client sends text.
  "ky/distribution/core/constants.js": {
    "(() => { let duplexAccessed…": "false",
    "typeof globalThis.FormData === 'function'": "false",
  },
  "ky/distribution/core/Ky.js": {
    // No hooks.
    "options.hooks?.init ?? []": "[]",
    "initHooks.length > 0 ? cloneInitHookOptions(options) : options": "options",
    "for (const hook of initHooks)": "",
    "await ky.#runBeforeRequestHooks()": "undefined",
    "if (beforeRequestResponse !== undefined)": "",
    "beforeRequestResponse !== undefined || …": "false",
    "if (isResponseInstance(response))": "",
    "if (this.#beforeRetryHookErrors.has(error))": "",
    "for (const hook of this.#options.hooks.beforeError)": "",
    // `throwHttpErrors: false`, no `.json()` and the like, no progress.
    "if (!currentResponse.ok && …": "",
    "for (const [type, mimeType] of Object.entries(responseTypes))": "",
    "ky.#decorateResponse(response)": "undefined",
    "if (ky.#options.onDownloadProgress)": "",
    "if (this.#options.onUploadProgress …": "",
    "this.#wrapRequestWithUploadProgress(…": "this.request",
    // Nothing is left of a body that is text.
    "ky.#cancelBody(originalRequest?.body ?? undefined)": "undefined",
    "if (ky.request !== originalRequest)": "",
    "this.#originalRequest = request": "undefined",
    "ky.#originalRequest": "undefined",
    // What it is given is a URL and the platform's own options; headers and the signal are added in `fetch`.
    "{ ...options, headers: mergeHeaders(…": "options",
    "if (Object.hasOwn(options, 'prefixUrl'))": "",
    "if (typeof this.#input !== 'string' …": "",
    "if (typeof this.#input === 'string')": "",
    "if (supportsAbortController && supportsAbortSignal)": "",
    "if (supportsRequestStreams)": "",
    "if (this.#options.json !== undefined)": "",
    "options.headers && …": "false",
    "if (this.#input instanceof globalThis.Request …": "",
    "if (hasSearchParameters(this.#options.searchParams))": "",
    "if (this.#abortController?.signal.aborted)": "",
    "findUnknownOptions(this.#options)": "{}",
    "this.#setResponseRequest(response, request)": "response",
    // `retry: 0`, `timeout: false`.
    "beforeRequestResponse ?? await ky.#retry(…": "await ky.#fetch()",
    "this.#retryLimit = …": "undefined",
    "this.#retryLimit > 0 ? …": "undefined",
    "if (retryRequest)": "",
    "if (typeof ky.#options.timeout …": "",
    "if (typeof ky.#options.totalTimeout …": "",
    "this.#startTime = …": "undefined",
    "this.#getRemainingTotalTimeout()": "undefined",
    "if (remainingTotal !== undefined && …": "",
    "this.#options.timeout === false ? remainingTotal …": "undefined",
    "effectiveTimeout === undefined": "true",
  },
  // `retries: Infinity`, `minTimeout: 0`, a `shouldRetry` that decides alone; nobody makes one of its own errors.
  "p-retry/index.js": {
    "options.signal?.throwIfAborted()": "undefined",
    "validateRetries(…": "undefined",
    "validateOption(…": "undefined",
    "validateNumberOption(…": "undefined",
    "validateSignal(…": "undefined",
    "if (Object.hasOwn(options, 'forever'))": "",
    "if (options.factor === 0)": "",
    "options.factor ??= 2": "undefined",
    "options.minTimeout ??= 1000": "undefined",
    "options.maxTimeout ??= Infinity": "undefined",
    "options.maxRetryTime ??= Infinity": "undefined",
    "options.randomize ??= false": "undefined",
    "options.onFailedAttempt ??= () => {}": "undefined",
    "options.shouldConsumeRetry ??= () => true": "undefined",
    "abortIfNeeded()": "undefined",
    "if (normalizedError instanceof AbortError)": "",
    "!(normalizedError instanceof TypeError) || isNetworkError(normalizedError)": "true",
    "calculateRemainingTime(startTime, options.maxRetryTime)": "Infinity",
    "isRetriableError && timeLeft > 0 && retriesLeft > 0 ? …": "0",
    "Object.freeze({ error: normalizedError, attemptNumber, retriesLeft, retriesConsumed, retryDelay: delayTime, })":
      "undefined",
    "(await options.shouldConsumeRetry(consumeRetryContext)) ?? true": "true",
    "consumeRetry ? delayTime : 0": "0",
    "await options.onFailedAttempt(context)": "undefined",
    "if (!isRetriableError …": "",
    "if (remainingTimeAfterShouldRetry <= 0)": "",
    "if (!consumeRetry)": "",
    "await delayForRetry(…": "undefined",
  },
  // Schemas check synchronously, and are strings, arrays, objects and `unknown`, optional or nullable, with rules of our own.
  // They are only given to `z.safeParse`; of what that gives, the issues are read.
  "zod/v4/core/core.js": {
    // Its configuration is on `globalThis`, for every copy of it in a program; what an application sets there is its own.
    "globalThis.__zod_globalConfig?.postProcessor": "undefined",
    "(_a = globalThis).__zod_globalConfig ?? …": "undefined",
    "globalThis.__zod_globalConfig": "{}",
    "if (pp)": "",
    "for (const k in proto)": "",
    // Nobody asks for the name of a class, or with `instanceof`.
    'Object.defineProperty(Definition, "name", { value: name })': "undefined",
    'Object.defineProperty(_, "name", { value: name })': "undefined",
    "Object.defineProperty(_, Symbol.hasInstance, …": "undefined",
    "params?.Parent ?? Object": "Object",
    "params?.Parent ? newError(Definition) : this": "this",
    '"captureStackTrace" in Error ? Error : null': "null",
  },
  "zod/v4/core/registries.js": { globalThis: "{}" },
  "zod/v4/core/util.js": { '"captureStackTrace" in Error ? …': "undefined" },
  "zod/v4/core/parse.js": {
    "new Err(issues.map(…": "{ issues: issues.map((issue) => ({ path: [], ...issue })) }",
    "errors.$ZodRealError": "undefined",
    "if (result instanceof Promise)": "",
    "set error(e)": "",
  },
  "zod/v4/core/api.js": { "util.normalizeParams(params)": "{}" },
  "zod/v4/core/schemas.js": {
    'get "~standard"()': "",
    'set "~standard"(value)': "",
    "inst ?? (inst = {})": "undefined",
    "inst._zod.bag = …": "undefined",
    "inst._zod.version = version": "undefined",
    'inst._zod.traits.has("$ZodCheck")': "false",
    "for (const fn of ch._zod.onattach)": "",
    "if (payload.memo)": "",
    "if (ch._zod.def.when)": "",
    "if (_ instanceof Promise && …": "",
    "if (asyncResult || _ instanceof Promise)": "",
    "if (asyncResult)": "",
    "util.attachSchema(payload.issues, currLen, inst)": "undefined",
    "if (ctx.skipChecks)": "",
    'if (ctx.direction === "backward")': "",
    "if (result instanceof Promise)": "",
    "if (r instanceof Promise)": "",
    "proms.length ? …": "payload",
    "if (proms.length)": "",
    "core.globalConfig.memoizer": "undefined",
    "memo?.attach(inst)": "undefined",
    "memo ? memo.alloc(inst, payload, Array(input.length), ctx) : Array(input.length)": "Array(input.length)",
    "memo ? memo.alloc(inst, payload, {}, ctx) : {}": "{}",
    "if (abortEarly && …": "",
    "ctx?.abortEarly": "undefined",
    "if (def.coerce)": "",
    "def.pattern ?? regexes.anyString": "undefined",
    "capSize(inst, arraySize)": "undefined",
    '!def.shape?.[k]?._zod?.traits?.has("$ZodType")': "false",
    "Object.getOwnPropertySymbols(def.shape)": "[]",
    "util.optionalKeys(def.shape)": "[]",
    "def.catchall": "undefined",
    "handleCatchall(proms, input, payload, ctx, …": "payload",
    "(canary, payload, ctx) => …": "undefined",
    'util.defineLazyInternal(inst, "propValues", …': "undefined",
    'util.defineLazyInternal(inst, "values", …': "undefined",
    'util.defineLazyInternal(inst, "pattern", …': "undefined",
    // No field has a default.
    'util.defineLazyInternal(inst, "optin", (zod) => zod.def.innerType._zod.optin)': "undefined",
    'util.defineLazyInternal(inst, "optout", (zod) => zod.def.innerType._zod.optout)': "undefined",
    'util.defineLazyInternal(inst, "optin", …': 'inst._zod.optin = "optional"',
    'def.innerType._zod.optin !== "defaulted"': "true",
    '(optin === "defaulted" && !isOptionalOut)': "false",
  },
  "zod/v4/mini/schemas.js": {
    "get with()": "",
    "set with(value)": "",
    "parse(data, params)": "",
    "parseAsync(data, params)": "",
    "safeParse(data, params)": "",
    "safeParseAsync(data, params)": "",
    "brand()": "",
    "register(reg, meta)": "",
    "apply(fn, ...args)": "",
    'util.installLazyProp(inst, "shape", …': "undefined",
    "util.normalizeParams(params)": "{}",
  },
};

/** Leaves it out, and fails where a package has changed in one of these places. */
export const leaveOutWhatNeverRuns: Plugin = {
  name: "leave-out-what-never-runs",
  setup({ onLoad }) {
    for (const [file, given] of Object.entries(LEFT_OUT)) {
      const filter = new RegExp(`[\\\\/]node_modules[\\\\/]${file.replaceAll(".", "\\.").replaceAll("/", "[\\\\/]")}$`);
      onLoad({ filter }, async ({ path }) => ({ contents: leaveOut(await readFile(path, "utf8"), file, given) }));
    }
  },
};
