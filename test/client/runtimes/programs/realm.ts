import { readFileSync } from "node:fs";
import { createContext, runInContext } from "node:vm";
import type { Copy, Package } from "../conformance/bench.ts";

/** The CommonJS file, run in a context of its own, whose `Error` and `Symbol` are others. */
export function copyOfAnotherRealm(file: string): Copy {
  const context = createContext({
    URL,
    Headers,
    Request,
    Response,
    AbortController,
    TextDecoder,
    TextEncoder,
    btoa,
    setTimeout,
  });
  const module: { exports: unknown } = { exports: {} };
  const program = runInContext(`(function (module, exports) {${readFileSync(file, "utf8")}\n})`, context) as (
    ...given: unknown[]
  ) => void; // it was just written
  program(module, module.exports);
  return { name: "a copy of another realm", pkg: module.exports as Package };
}
