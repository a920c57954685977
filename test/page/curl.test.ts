import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { curlLine } from "../../src/page/browser/curl.ts";

type Sent = Parameters<typeof curlLine>[0];

const BASE = "http://127.0.0.1:4010/api/v1";
const request = (part: Partial<Sent["sent"]>, line = "POST /api/v1/projects/web/issues"): Sent => {
  const [method = "", url = ""] = line.split(" ");
  const row = { method, url } as Sent["request"]; // only these fields are looked at
  return { request: row, sent: { headers: {}, body: "", cut: 0, ...part } };
};

test("a request is one line, without its token", () => {
  const headers = {
    authorization: "Bearer emu_ab_***",
    "content-type": "application/json",
    host: "x",
    "sec-fetch-mode": "cors",
  };
  expect(curlLine(request({ headers, body: '{"title":"a"}' }), BASE)).toBe(
    `curl --globoff --path-as-is --request 'POST' 'http://127.0.0.1:4010/api/v1/projects/web/issues' --header "Authorization: Bearer $PROJECT_AUTOMATION_TOKEN" --header 'content-type: application/json' --data-raw '{"title":"a"}'`,
  );
  expect(curlLine(request({}, "GET /api/v1/projects?limit=1"), BASE)).toBe(
    "curl --globoff --path-as-is 'http://127.0.0.1:4010/api/v1/projects?limit=1'",
  );
  expect(curlLine(request({}, "HEAD /é'"), BASE)).toBe(
    "curl --globoff --path-as-is --head 'http://127.0.0.1:4010/%e9'\\'''",
  );
  expect(curlLine(request({ cut: 1 }), BASE)).toBeUndefined();
});

/** What a shell, a terminal or curl could take for more than text. */
const PIECES = [
  "'", '"', "`", "$", "\\", "!", "!!", "&", ";", "|", "<", ">", "(", ")", "{a,b}", "[1-3]", "*", "~", "#", "=", "%s%n", "%",
  "\n", "\r", "\r\n", "\t", "\0", "\u001b[201~", "\u0003", "\u0004", "\u007f", "\u009b", "\u2028", "é", "😀", "\ud800", "--next", "-o",
  "@/etc/passwd", "'; touch ran; '", "$(touch ran)", "`touch ran`", "\"; touch ran; \"", "' && touch ran && '", "\ntouch ran\n",
  "\u001b[201~\ntouch ran\n", "\\'; touch ran; \\'", "$'\\x27; touch ran'", "${IFS}touch${IFS}ran", "EOF\ntouch ran\n",
]; // biome-ignore format: one piece a line would be a page
const WITNESS = String.raw`#!/bin/sh
for word in "$@"; do printf '%s\0' "$word"; done >> "$OUT"
printf 'END\0' >> "$OUT"
`;

/** 200 texts from those pieces, the same in each run. */
const HOSTILE = Array.from({ length: 200 }, (_, index) =>
  index < PIECES.length
    ? (PIECES[index] ?? "")
    : Array.from({ length: 4 }, (_, part) => PIECES[(index * 7 + part * (index % 13)) % PIECES.length]).join("x"),
);

test.runIf(process.platform !== "win32")(
  "200 hostile texts that are pasted into sh run nothing, and arrive as they were",
  () => {
    const folder = mkdtempSync(join(tmpdir(), "curl-"));
    try {
      const [bin, out, work] = ["bin", "out", "work"].map((name) => join(folder, name)) as [string, string, string];
      for (const made of [bin, work]) mkdirSync(made);
      writeFileSync(join(bin, "curl"), WITNESS);
      chmodSync(join(bin, "curl"), 0o755);
      const all = HOSTILE.flatMap((text) => [JSON.stringify({ title: text, type: "bug" }), text]).filter(
        (text) => !text.includes("\ud800"),
      );
      const linesOf = (body: string) => curlLine(request({ headers: { "x-title": body }, body }), BASE) ?? [];
      const bodies = all.filter((body) => !/[\0-\x1f\x7f-\x9f]/.test(body));
      const lines = bodies.flatMap(linesOf);
      expect([lines.length, all.flatMap(linesOf)]).toEqual([bodies.length, lines]); // none for the others
      const env = { PATH: `${bin}:${process.env["PATH"]}`, OUT: out };
      const { status, stderr } = spawnSync("sh", { cwd: work, env, input: `${lines.join("\n")}\n`, encoding: "utf8" });
      expect([status, stderr, readdirSync(work)]).toEqual([0, "", []]);
      const calls = readFileSync(out).toString("latin1").split("END\0").slice(0, -1);
      const arrived = calls.map((call) => Buffer.from(call, "latin1"));
      expect(arrived).toHaveLength(bodies.length);
      for (const [index, body] of bodies.entries()) {
        const last = arrived[index]?.subarray(0, -1).subarray(-Buffer.byteLength(body)) ?? Buffer.of();
        expect(last.equals(Buffer.from(body)), JSON.stringify(body)).toBe(true);
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
);
