import { fieldsOf } from "../../core/checks/values.ts";
import type { Conventions } from "../../emulator/conventions.ts";
import { agrees, contradicts, differs, type Finding, type Question, question, unasked } from "../question.ts";
import { cursorOf, errorOf, idsOf, isSuccess, type ListPage, outlineOf, pageOf } from "../reading.ts";
import { FIRST_PAGE, LARGEST_PAGE, LIMIT_ABOVE, LIMIT_ZERO, SECOND_PAGE } from "../steps.ts";
import type { Reply } from "../wire.ts";
import { judgeRefusal } from "./refusals.ts";

const CLAMPED = 'the API documentation says "A value outside the allowed range is clamped, not rejected."';
const MAX_LIMIT = 200;
/** The client's errors for a 2xx that is no list. */
const NO_LIST = "ResponseParseError or ResponseValidationError";
/** The consequence of a last page that is not written as the API documentation says. */
const REJECTS = "every list() rejects with ResponseValidationError at its last page, with validation: lenient too";

function judgeClamp(name: "limitTooSmall" | "limitTooLarge", most: number): (reply: Reply) => Finding {
  const asked = name === "limitTooSmall" ? "list({ limit: 0 })" : "list({ limit: 201 })";
  return (reply) => {
    const page = pageOf(reply);
    if (page !== undefined) {
      const seen = itemsOf(page);
      if (page.data.length <= most) return agrees(seen, { [name]: "clamp" });
      return contradicts(`${seen}: not clamped`, `pages of ${asked} hold more items than ${most}`);
    }
    if (isSuccess(reply)) return contradicts(`${outlineOf(reply)}, not a list`, `${asked} rejects with ${NO_LIST}`);
    const { seen, conventions } = judgeRefusal(name, reply);
    const so = `${asked} rejects with ${errorOf(reply.status)}`;
    return contradicts(`refused: ${seen}`, so, { ...conventions, [name]: "refuse" });
  };
}

function itemsOf({ data }: ListPage): string {
  return data.length === 1 ? "1 item" : `${data.length} items`;
}

function endOf({ fields, nextCursor }: ListPage): Conventions["endOfList"] | "not valid" {
  if (!("next_cursor" in fields)) return "missing";
  if (nextCursor === null) return "null";
  return nextCursor === "" ? "empty" : "not valid";
}

const ENDS = { null: "null", empty: 'an empty string ("")', missing: "no next_cursor" };

function judgeEnd({ largest }: Readonly<Record<"largest", Reply>>): Finding {
  const page = pageOf(largest);
  if (page === undefined) return unasked(`not a list: ${outlineOf(largest)}`);
  if (cursorOf(page) !== undefined) return unasked(`there are more than ${page.data.length} projects`);
  const endOfList = endOf(page);
  if (endOfList === undefined || endOfList === "not valid") {
    const type = Array.isArray(page.nextCursor) ? "an array" : `a ${typeof page.nextCursor}`;
    return contradicts(`next_cursor is ${type}`, REJECTS);
  }
  const seen = ENDS[endOfList];
  return endOfList === "null" ? agrees(seen, { endOfList }) : contradicts(seen, REJECTS, { endOfList });
}

function judgeLimit({ first, largest }: Readonly<Record<"first" | "largest", Reply>>): Finding {
  const page = pageOf(first);
  if (page === undefined) return contradicts(outlineOf(first), "list({ limit: 1 }) rejects");
  const seen = itemsOf(page);
  if (page.data.length > 1)
    return contradicts(seen, "pages hold more items than were asked for; walks are not affected");
  const all = pageOf(largest)?.data.length ?? 0;
  const isCutOff = cursorOf(page) === undefined && all > page.data.length;
  if (!isCutOff) return agrees(seen);
  return contradicts(
    `${seen} and no cursor, though there are ${all} projects`,
    "a walk ends after its first page, and misses the rest, or rejects",
  );
}

function judgeSecondPage({ first, second }: Readonly<Record<"first" | "second", Reply>>): Finding {
  const [one, two] = [pageOf(first), pageOf(second)];
  if (one === undefined || two === undefined) {
    return contradicts(`the cursor is refused: ${outlineOf(second)}`, "a walk rejects at its second page");
  }
  if (cursorOf(one) === cursorOf(two)) {
    return contradicts("the same cursor again: the walk would never end", "a walk rejects with PaginationError");
  }
  const seenBefore = new Set(idsOf(one.data));
  const repeated = idsOf(two.data).filter((id) => seenBefore.has(id)).length;
  return repeated > 0
    ? contradicts("the same items again", "a walk yields items more than once")
    : agrees("other items, and another cursor or none");
}

function judgePageFields({ first }: Readonly<Record<"first", Reply>>): Finding {
  if (pageOf(first) === undefined) return unasked(`not a list: ${outlineOf(first)}`);
  const { data: _data, next_cursor: _cursor, ...page } = fieldsOf(first.json);
  const names = Object.keys(page);
  const conventions = { extraFields: { page } };
  if (names.length === 0) return agrees("none", conventions);
  return differs(names.join(", "), "nothing: pages() yields them along with the rest", conventions);
}

export const LIST_QUESTIONS: readonly Question[] = [
  question({
    id: "limit-zero",
    question: "Is a limit of 0 clamped?",
    about: `${CLAMPED}; convention limitTooSmall`,
    assumes: "clamped to 1",
    asks: { reply: LIMIT_ZERO },
    judge: ({ reply }) => judgeClamp("limitTooSmall", 1)(reply),
  }),
  question({
    id: "limit-above",
    question: "Is a limit of 201 clamped?",
    about: `${CLAMPED}; convention limitTooLarge`,
    assumes: "clamped to 200",
    asks: { reply: LIMIT_ABOVE },
    judge: ({ reply }) => judgeClamp("limitTooLarge", MAX_LIMIT)(reply),
  }),
  question({
    id: "limit",
    question: "Does a limit of 1 return one item?",
    about: 'the API documentation says "`limit`: Query parameter, page size."',
    assumes: "at most 1, and a cursor if there are more",
    asks: { first: FIRST_PAGE, largest: LARGEST_PAGE },
    judge: judgeLimit,
  }),
  question({
    id: "second-page",
    question: "Does the cursor lead to other items?",
    about: 'the API documentation says "`cursor`: Value is the `next_cursor` of the previous response."',
    assumes: "other items",
    asks: { first: FIRST_PAGE, second: SECOND_PAGE },
    judge: judgeSecondPage,
  }),
  question({
    id: "end-of-list",
    question: "How does the last page say that it is the last?",
    about: 'the API documentation says of next_cursor "It is null on the last page."; convention endOfList',
    assumes: "next_cursor is null",
    asks: { largest: LARGEST_PAGE },
    judge: judgeEnd,
  }),
  question({
    id: "fields-page",
    question: "Which fields does a page have beside data and next_cursor?",
    about: "the API documentation shows data and next_cursor; convention extraFields.page",
    assumes: "none",
    asks: { first: FIRST_PAGE },
    judge: judgePageFields,
  }),
];
