/** How the platforms differ, as far as a user of the package notices; `docs/runtimes.md` says it in words. */
import type { RuntimeKind } from "./binaries.ts";
import type { Traits } from "./conformance/bench.ts";

const node: Traits = {
  isBrowser: false,
  refused: "not_sent",
  unknownHost: "not_sent",
  resends: false,
  movesWhileComputing: true,
  hasFrames: true,
  clonesErrorsAsSpecified: true,
};

const browser: Traits = { ...node, isBrowser: true, refused: "lost", unknownHost: "lost", resends: true };

export const TRAITS: Readonly<Record<RuntimeKind, Traits>> = {
  node,
  bun: node,
  deno: node,
  workerd: {
    ...node,
    refused: "lost",
    unknownHost: "failed",
    movesWhileComputing: false,
    clonesErrorsAsSpecified: false,
  },
  chromium: browser,
  firefox: { ...browser, hasFrames: false },
};
