import * as z from "zod/mini";
import type { ValidationIssue } from "../errors/automation-error.ts";
import type { Page } from "../models.ts";
import { issuesOf, MAX_ISSUES } from "./foreign-issues.ts";
import { nextCursor } from "./records.ts";
import { isPromise, type StandardResult, type StandardSchema } from "./standard-schema.ts";
import { type Checked, type SyncValidator, type Validator, validator, zodValidator } from "./validator.ts";

/** Items that a page may have; the service sends at most 200. */
const MAX_ITEMS = 10_000;

/** Validates the list envelope alone, whatever its items are. */
export const pageEnvelopeValidator: SyncValidator<Page<unknown>> = zodValidator<Page<unknown>>(
  z.looseObject({ data: z.array(z.unknown()).check(z.maxLength(MAX_ITEMS)), next_cursor: nextCursor }),
);

/**
 * Validates the list envelope and each of its items. Items are validated one at a time, and no further ones once
 * `MAX_ISSUES` issues are collected: what a page of invalid items costs is bounded.
 */
export function pageValidator<Item>(item: StandardSchema<Item>): Validator<Page<Item>> {
  return validator((value) => {
    const envelope = pageEnvelopeValidator["~standard"].validate(value);
    return envelope.issues === undefined ? new PageItems(item, envelope.value).validate() : envelope;
  });
}

/** The items of one page while they are validated. */
class PageItems<Item> {
  readonly #schema: StandardSchema<Item>;
  readonly #page: Page<unknown>;
  readonly #items: Item[] = [];
  readonly #issues: ValidationIssue[] = [];
  #next = 0;

  constructor(schema: StandardSchema<Item>, page: Page<unknown>) {
    this.#schema = schema;
    this.#page = page;
  }

  /** Synchronous as long as the schema is. */
  validate(): Checked<Page<Item>> | Promise<Checked<Page<Item>>> {
    while (this.#goesOn()) {
      const result = this.#schema["~standard"].validate(this.#page.data[this.#next]);
      if (isPromise(result)) return this.#validateAfter(result);
      this.#add(result);
    }
    return this.#result();
  }

  async #validateAfter(first: Promise<StandardResult<Item>>): Promise<Checked<Page<Item>>> {
    this.#add(await first);
    while (this.#goesOn()) this.#add(await this.#schema["~standard"].validate(this.#page.data[this.#next]));
    return this.#result();
  }

  #goesOn(): boolean {
    return this.#next < this.#page.data.length && this.#issues.length < MAX_ISSUES;
  }

  #add(result: StandardResult<Item>): void {
    const index = this.#next;
    this.#next += 1;
    if (result.issues === undefined) {
      this.#items.push(result.value);
      return;
    }
    for (const { path, message } of issuesOf(this.#schema, result.issues, this.#page.data[index])) {
      this.#issues.push({ path: ["data", index, ...path], message });
    }
  }

  #result(): Checked<Page<Item>> {
    if (this.#issues.length === 0) return { value: { ...this.#page, data: this.#items } };
    const unchecked = this.#page.data.length - this.#next;
    if (unchecked === 0) return { issues: this.#issues };
    return { issues: [...this.#issues, { path: ["data"], message: `${unchecked} more items are not checked` }] };
  }
}
