/** README, llms.txt and api.md name every method of a client, llms.txt and docs/options.md every option. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Client } from "../../../src/client/index.ts";
import { root } from "./snippets.ts";
import { tableOf } from "./tables.ts";

const read = (file: string): string => readFileSync(join(root, file), "utf8");
const client = new Client({ baseUrl: "http://localhost/api/v1", token: "pat_key_secret" });

/** Such as `projects.list` and `withOptions`: everything of a client that has a name and is no plain value. */
const members: readonly string[] = namesIn(client)
  .filter((name) => name !== "baseUrl")
  .flatMap((name) => {
    const value: unknown = Reflect.get(client, name);
    return typeof value === "object" && value !== null ? namesIn(value).map((method) => `${name}.${method}`) : [name];
  });

function namesIn(value: object): string[] {
  const names = [...Object.getOwnPropertyNames(value), ...Object.getOwnPropertyNames(Object.getPrototypeOf(value))];
  return names.filter((name) => name !== "constructor");
}

/** The names that the client says it accepts. */
function acceptedIn(error: unknown): string[] {
  const names = /accepted: ([\w, ]+)/.exec(error instanceof Error ? error.message : "")?.[1] ?? "";
  return names.split(", ").sort();
}

const listed = (text: string): string[] => [...text.matchAll(/`(\w+)[`:]/g)].map(([, name = ""]) => name).sort();
const llms = read("llms.txt");
const optionsOf = (start: RegExp, end: string): string[] => listed(llms.split(start)[1]?.split(end)[0] ?? "");

test("a client has the members that are looked for", () => {
  expect(members).toEqual(expect.arrayContaining(["projects.list", "sessions.watch", "paginate", "rateLimit"]));
});

test.each(["README.md", "llms.txt", "api.md"])("%s names every method", (file) => {
  const text = read(file).replaceAll(/<[^>]*>/g, "");
  expect(members.filter((name) => !text.includes(name))).toEqual([]);
});

const inOptions = (head: string): string[] =>
  tableOf("docs/options.md", head)
    .rows.map(([option = ""]) => option.replaceAll("`", ""))
    .sort();

test("llms.txt and docs/options.md name the options of a client, and no others", () => {
  const construct = (): unknown => {
    try {
      return new Client({ zzzzzz: 1 } as object);
    } catch (error) {
      return error;
    }
  };
  expect(optionsOf(/^Client options: /m, ". Call options")).toEqual(acceptedIn(construct()));
  expect(inOptions("of a client")).toEqual(acceptedIn(construct()));
});

test("llms.txt and docs/options.md name the options of a call, and no others", async () => {
  const accepted = acceptedIn(
    await client.sessions.get("ses_1", { zzzzzz: 1 } as object).catch((error: unknown) => error),
  );
  expect(accepted.length).toBeGreaterThan(5);
  expect(optionsOf(/Call options, always last: /, "\n\n")).toEqual(accepted);
  expect(inOptions("of a call")).toEqual(accepted);
});
