import { execFile } from "node:child_process";
import { resolve } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";

test("the example prints a call with a 429 in it as a tree", async () => {
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [
    resolve(import.meta.dirname, "../../../examples/trace.ts"),
  ]);
  expect(stderr).toBe("");
  const times = stdout.match(/\d+(?= ms$)/gm)?.map(Number) ?? [];
  expect(Math.max(...times)).toBeGreaterThanOrEqual(1_000);
  const shape = stdout.replaceAll(/\d+ ms$/gm, "… ms").split("\n");
  expect(stdout).toMatch(/· wait, after [1-9]\d{3} ms/);
  // On a busy machine there may be more of them.
  expect(shape.filter((line) => !line.includes("· wait, "))).toEqual([
    "nightly job  … ms",
    "├─ projects.list  … ms",
    "│  └─ GET /projects  → 200  … ms",
    "├─ issues.create  … ms",
    "│  └─ POST /projects/{project}/issues  → 201  … ms",
    "├─ sessions.list  … ms",
    "│  └─ GET /projects/{project}/sessions  → 200  … ms",
    "└─ sessions.get  … ms",
    "   │    · rate_limit_pause, after … ms",
    "   │    · retry, after … ms",
    "   │    · rate_limit_resume, after … ms",
    "   ├─ GET /sessions/{id}  → 429  ERROR  … ms",
    "   └─ GET /sessions/{id}  → 200  (resend 1)  … ms",
    "",
  ]);
});
