/** How the platforms differ, as far as a user of the package notices; `docs/runtimes.md` says it in words. */
import type { RuntimeKind } from "./binaries.ts";
import type { Traits } from "./conformance/bench.ts";

const node: Traits = {
  isBrowser: false,
  showsRefusals: true,
  resends: false,
  movesWhileComputing: true,
  hasFrames: true,
  clonesErrorsAsSpecified: true,
};

const browser: Traits = { ...node, isBrowser: true, showsRefusals: false, resends: true };

export const TRAITS: Readonly<Record<RuntimeKind, Traits>> = {
  node,
  bun: { ...node, showsRefusals: false },
  deno: { ...node, showsRefusals: false },
  workerd: {
    ...node,
    showsRefusals: false,
    movesWhileComputing: false,
    clonesErrorsAsSpecified: false,
  },
  chromium: browser,
  firefox: { ...browser, hasFrames: false },
};
