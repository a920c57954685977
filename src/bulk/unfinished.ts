import { cut } from "../core/checks/values.ts";
import { type BulkCounts, BulkError } from "../core/errors/bulk-error.ts";
import type { BulkState } from "./journal.ts";
import type { RunPhase } from "./phase.ts";

/** The number of items that the message names, and the longest part of a key. */
const NAMED = 3;
const KEY_LENGTH = 100;

export class Unfinished {
  readonly #named: string[] = [];
  #isInDoubt = false;

  /** `isRecorded`: an earlier run left it so. */
  add(
    key: string,
    state: BulkState,
    { why, isRecorded }: { readonly why: string; readonly isRecorded: boolean },
  ): void {
    if (state === "unknown" && !isRecorded) this.#isInDoubt = true;
    if (this.#named.length === NAMED) return;
    this.#named.push(`${JSON.stringify(cut(key, KEY_LENGTH))} ${state === "not_sent" ? "not sent" : state}: ${why}`);
  }

  /** `isCut`: there may be items that the run has not seen. */
  error(summary: BulkCounts, isCut: boolean, { cause, why }: Pick<RunPhase, "cause" | "why">): BulkError {
    const { done, refused, not_sent, unknown } = summary;
    const count = refused + not_sent + unknown;
    const states = [
      refused > 0 && `${refused} refused`,
      not_sent > 0 && `${not_sent} not sent`,
      unknown > 0 && `${unknown} unknown${this.#isInDoubt ? "" : " from earlier runs"}`,
    ];
    const [items, are] = done + count === 1 ? ["item", "is"] : ["items", count === 1 ? "is" : "are"];
    const counted = `${count} of ${done + count} ${items} ${are} left: ${states.filter(Boolean).join(", ")}`;
    const rest = count > 0 ? `${counted}, and the rest of the stream` : "the rest of the items is left";
    const steps = [
      refused > 0 && "correct what was refused",
      unknown > 0 && "let resolveUnknown decide what is unknown",
      "run it again",
    ];
    const sentences = [
      isCut ? rest : counted,
      why,
      this.#named.join("; "),
      `To finish: ${steps.filter(Boolean).join(", ")}`,
    ];
    return new BulkError(sentences.filter(Boolean).join(". "), { summary, cause });
  }
}
