/** A caller's `fetch` that reads the body of the response that it returns, to log it for instance. */
import { expect, test } from "vitest";
import { path } from "../../src/index.ts";
import { ended, fakeTime } from "../support/fake-time.ts";
import { good, type Reply } from "../support/replies.ts";
import { scriptedFetch } from "../support/scripted-fetch.ts";

fakeTime();

const readGood: Reply = async (sent) => {
  const response = await good(sent);
  await response.text();
  return response;
};

test("a write that the service accepted is accepted, and the error says what to do", async () => {
  const { error } = await ended(scriptedFetch(readGood).client().issues.create("web", { title: "t", type: "bug" }));
  expect(error).toMatchObject({ kind: "connection", outcome: "accepted", attempts: 1 });
  expect(String((error as Error).cause)).toContain("clone()");
});

test("a DELETE has done its work by its status", async () => {
  const service = scriptedFetch(async () => {
    const response = new Response("{}");
    await response.text();
    return response;
  });
  const { error } = await ended(service.client().request({ method: "DELETE", path: path`/locks/1` }));
  expect(error).toBeUndefined();
  expect(service.sent).toHaveLength(1);
});

test("a body that is locked counts as read", async () => {
  const service = scriptedFetch(async (sent) => {
    const response = await good(sent);
    response.body?.getReader();
    return response;
  });
  const { error } = await ended(service.client().issues.create("web", { title: "t", type: "bug" }));
  expect(error).toMatchObject({ kind: "connection", outcome: "accepted" });
});
