import { readFile } from "node:fs/promises";
import type { Plugin } from "esbuild";
import { type Blocks, leaveOut } from "./leave-out.ts";

/**
 * What of the bundled packages can never run here, file by file. A number is how many of a block's first statements
 * stay. Why nothing reaches it, and how that is known: docs/decisions/0007-what-never-runs-is-not-published.md.
 */
export const LEFT_OUT: Readonly<Record<string, Blocks>> = {
  // `retry: 0`, `timeout: false`, `throwHttpErrors: false`; no hooks, no search parameters, no progress, no `.json()`; and
  // what it says of options that cannot be.
  "ky/distribution/core/Ky.js": {
    createTextDecoder: 0,
    cloneInitHookOptions: 0,
    cloneRetryOptions: 0,
    cloneSearchParametersForInitHook: 0,
    validateJsonWithSchema: 0,
    "if (Object.hasOwn(options, 'prefixUrl'))": 0,
    "if (typeof ky.#options.timeout …": 0,
    "if (typeof ky.#options.totalTimeout …": 0,
    "if (typeof this.#input !== 'string' …": 0,
    "if (this.#input instanceof globalThis.Request …": 0,
    "if (this.#options.onUploadProgress …": 0,
    "if (beforeRequestResponse !== undefined)": 0,
    "if (!currentResponse.ok && …": 0,
    "result[type]": 0,
    "#normalizeSearchParams": 0,
    "if (hasSearchParameters(this.#options.searchParams))": 0,
    "if (this.#options.prefix)": 0,
    "if (this.#options.baseUrl)": 0,
    "if (this.#options.json !== undefined)": 0,
    "if (ky.#options.onDownloadProgress)": 0,
    "#calculateDelay": 0,
    "#calculateRetryDelay": 2,
    "if (this.#options.parseJson)": 0,
    "for (const hook of this.#options.hooks.beforeError)": 0,
    "#getResponseData": 0,
    "#getErrorDataTimeout": 0,
    "#getBodyReadTimeout": 0,
    "#raceBodyRead": 0,
    "#raceWithTotalTimeout": 0,
    "#isJsonContentType": 0,
    "#readResponseText": 0,
    "#parseJson": 0,
    "#cancelResponseBody": 0,
    "#cancelReturnedBody": 0,
    "#throwIfTotalTimeoutExhausted": 0,
    "for (const hook of this.#options.hooks.beforeRequest)": 0,
    "for (const hook of this.#options.hooks.afterResponse)": 0,
    "#retryFromError": 2,
    "#getNormalizedOptions": 0,
    "#assignRequest": 0,
    "#wrapRequestWithUploadProgress": 1,
  },
  "ky/distribution/utils/merge.js": {
    cloneShallow: 0,
    appendSearchParameters: 0,
    "if ((!isObject(source) …": 0,
    "if (key === 'context')": 0,
    "if (key === 'searchParams')": 0,
  },
  "ky/distribution/utils/options.js": { hasSearchParameters: 1 },
  "ky/distribution/utils/timeout.js": { timeout: 0 },
  // `minTimeout: 0`: it does not wait itself. Nobody makes one of its own errors, and what it is given is in order.
  "p-retry/index.js": {
    "AbortError.constructor": 0,
    calculateDelay: 1,
    delayForRetry: 1,
    validateSignal: 1,
    "if (retries < 0)": 0,
    "if (Number.isNaN(retries))": 0,
    "if (Number.isFinite(retries) && …": 0,
    "if (typeof value !== 'number' …": 0,
    "if (!allowInfinity && …": 0,
    "if (value < 0)": 0,
    "if (typeof value !== type)": 0,
    "if (Object.hasOwn(options, 'forever'))": 0,
    "if (options.factor === 0)": 0,
  },
  // Schemas are synchronous, and are only ever given to `z.safeParse`. No shape says what other fields must be.
  "zod/v4/mini/schemas.js": { parse: 0, parseAsync: 0, safeParse: 0, safeParseAsync: 0 },
  "zod/v4/core/schemas.js": {
    'get "~standard"': 0,
    handleCanaryResult: 0,
    handleCatchall: 0,
  },
};

/** Leaves it out, and fails where a package has changed in one of these places. */
export const leaveOutWhatNeverRuns: Plugin = {
  name: "leave-out-what-never-runs",
  setup({ onLoad }) {
    for (const [file, blocks] of Object.entries(LEFT_OUT)) {
      const filter = new RegExp(`[\\\\/]node_modules[\\\\/]${file.replaceAll(".", "\\.").replaceAll("/", "[\\\\/]")}$`);
      onLoad({ filter }, async ({ path }) => ({ contents: leaveOut(await readFile(path, "utf8"), file, blocks) }));
    }
  },
};
