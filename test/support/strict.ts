/**
 * Makes a test fail on what would otherwise only be printed: a warning of the process, such as too many listeners, and
 * anything written to `console.error` or `console.warn` that the test does not catch itself. Rejections that nobody
 * handles fail the run without help. The process forgets its rotating tokens after each test: tests give the same anew.
 */
import { setImmediate } from "node:timers/promises";
import { afterAll, afterEach } from "vitest";
import { knownTokens } from "../../src/core/token/known-tokens.ts";

const complaints: string[] = [];

const onWarning = (warning: Error): void => {
  complaints.push(`process warning: ${warning.name}: ${warning.message}`);
};
process.on("warning", onWarning);

for (const method of ["error", "warn"] as const) {
  console[method] = (...parts: unknown[]): void => {
    complaints.push(`console.${method}: ${parts.map(String).join(" ")}`);
  };
}

async function fail(): Promise<void> {
  await setImmediate(); // warnings are emitted on a later tick
  const messages = complaints.splice(0);
  if (messages.length > 0) throw new Error(`Warnings and console output during tests:\n${messages.join("\n")}`);
}

afterEach(fail);
afterEach(() => knownTokens().forget());
afterAll(() => fail().finally(() => process.off("warning", onWarning)));
