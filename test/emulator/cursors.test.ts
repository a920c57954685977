import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Cursors } from "../../src/emulator/cursor.ts";
import type { Emulator } from "../../src/testing/index.ts";
import { createEmulator, seededRandom } from "../../src/testing/index.ts";
import { anyCharacter } from "../support/characters.ts";
import type { Body } from "./transports.ts";

async function page(emulator: Emulator, query: Record<string, string>): Promise<{ status: number; body: Body }> {
  const response = await emulator.fetch(`${emulator.baseUrl}/projects/p/sessions?${new URLSearchParams(query)}`, {
    headers: { authorization: `Bearer ${emulator.token}` },
  });
  return { status: response.status, body: (await response.json()) as Body };
}

/** What happens to the list between two pages. */
const change = fc.oneof(
  fc.constant({ kind: "insert" as const }),
  fc.record({ kind: fc.constant("delete" as const), which: fc.nat() }),
  fc.record({ kind: fc.constant("update" as const), which: fc.nat() }),
);

describe("a walk", () => {
  test("neither skips nor repeats what is there from its beginning to its end", async () => {
    const walk = async (
      size: number,
      limit: number,
      changes: (typeof change extends fc.Arbitrary<infer T> ? T : never)[][],
    ) => {
      const emulator = createEmulator({ projects: [{ id: "p" }], sessionsPerProject: size, rateLimit: false });
      const ids = (): string[] => emulator.sessions.list("p").map(({ id }) => id);
      const before = ids();
      const added: string[] = [];
      const seen: string[] = [];
      for (let cursor: string | null = "", round = 0; cursor !== null; round += 1) {
        const { status, body } = await page(emulator, { limit: String(limit), ...(cursor && { cursor }) });
        expect(status).toBe(200);
        seen.push(...body.data.map(({ id }) => id));
        cursor = body.next_cursor;
        for (const one of cursor === null ? [] : (changes[round] ?? [])) {
          const target = ids()[one.kind === "insert" ? 0 : one.which % Math.max(1, ids().length)];
          if (one.kind === "insert") added.push(emulator.sessions.create("p").id);
          else if (target === undefined) continue;
          else if (one.kind === "delete") emulator.sessions.delete(target);
          else emulator.sessions.update(target, { state: "changed" });
        }
      }
      const left = new Set(ids());
      expect(new Set(seen).size).toBe(seen.length);
      expect(seen.filter((id) => left.has(id))).toEqual([...before, ...added].filter((id) => left.has(id)));
    };
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 30 }),
        fc.integer({ min: 1, max: 8 }),
        fc.array(fc.array(change, { maxLength: 4 }), { maxLength: 20 }),
        walk,
      ),
      { numRuns: 200 },
    );
  });
});

describe("a cursor", () => {
  const cursors = new Cursors("world");

  test("that was altered in any way is rejected", () => {
    const genuine = cursors.issue("list", 7);
    expect(cursors.read("list", genuine)).toBe(7);
    const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/= ";
    for (let index = 0; index < genuine.length; index += 1) {
      for (const letter of alphabet) {
        const cursor = genuine.slice(0, index) + letter + genuine.slice(index + 1);
        if (cursor !== genuine) expect([cursor, cursors.read("list", cursor)]).toEqual([cursor, undefined]);
      }
      expect(cursors.read("list", genuine.slice(0, index))).toBeUndefined();
      expect(cursors.read("list", `${genuine.slice(0, index)} ${genuine.slice(index)}`)).toBeUndefined();
    }
  });

  test("that was invented is rejected", () => {
    const made = fc.oneof(fc.string({ unit: anyCharacter }), fc.base64String({ maxLength: 60 }));
    const refused = (cursor: string): void => {
      expect(cursors.read("list", cursor)).toBeUndefined();
    };
    fc.assert(fc.property(made, refused), { numRuns: 2_000 });
  });

  test.each<[what: string, seeds: readonly (number | undefined)[]]>([
    ["another source", [1, 2]],
    ["the same source", [1, 1]],
    ["no source", [undefined, undefined]],
  ])("of another emulator is rejected: %s", async (_, seeds) => {
    const [one, other] = seeds.map((seed) => {
      const random = seed === undefined ? undefined : seededRandom(seed);
      return createEmulator({ projects: [{ id: "p" }], sessionsPerProject: 9, random });
    });
    if (one === undefined || other === undefined) throw new Error("there are two");
    const cursor = (await page(one, { limit: "7" })).body.next_cursor ?? "";
    expect((await page(one, { cursor })).status).toBe(200);
    expect((await page(other, { cursor })).status).toBe(400);
  });

  test("names the position it was issued for, in its list and no other", () => {
    const text = fc.string({ unit: anyCharacter, maxLength: 20 });
    const property = (list: string, position: number): void => {
      const cursors = new Cursors("one");
      const cursor = cursors.issue(list, position);
      const another = cursors.issueAnother(list, position);
      expect(cursors.issue(list, position)).toBe(cursor);
      expect(another).not.toBe(cursor);
      expect([cursors.read(list, cursor), cursors.read(list, another)]).toEqual([position, position]);
      expect(cursors.read(`${list}x`, cursor)).toBeUndefined();
      expect(new Cursors("two").read(list, cursor)).toBeUndefined();
    };
    fc.assert(fc.property(text, fc.nat({ max: Number.MAX_SAFE_INTEGER }), property), { numRuns: 500 });
  });
});
