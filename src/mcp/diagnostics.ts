import { isBrandedError } from "../core/errors/automation-error.ts";
import { explain } from "../core/errors/explanation.ts";
import { Redactor } from "../core/secrets/redact.ts";

const LONGEST_LINE = 500;
/** Of no client: it finds secrets by the name before them. */
const REDACTOR = new Redactor({ tokens: [] });

/** Writes on standard error what is hidden from the model. */
export function report(topic: string, thrown: unknown): void {
  const why = isBrandedError(thrown) ? thrown.message : explain(thrown).why;
  console.error(`project-automation mcp: ${topic}: ${REDACTOR.line(why, LONGEST_LINE)}`);
}
