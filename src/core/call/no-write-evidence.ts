import type { watchWrite as watchOnNode } from "./write-evidence.ts";

/** Takes the place of `write-evidence.ts` in programs that are bundled for browsers: no browser tells of its requests. */
export const watchWrite: typeof watchOnNode = () => undefined;
