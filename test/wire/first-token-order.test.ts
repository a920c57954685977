import { expect, test } from "vitest";
import { ended, fakeTime } from "../support/fake-time.ts";
import { after, good } from "../support/replies.ts";
import { scriptedFetch } from "../support/scripted-fetch.ts";

fakeTime();

test("calls that begin before the token provider has returned its first token are sent in order of arrival", async () => {
  const service = scriptedFetch(after(5, good));
  const token = (): Promise<string> => new Promise((resolve) => setTimeout(() => resolve("pat_1"), 20));
  const client = service.client({ token, maxConcurrency: 1 });
  await ended(Promise.all(["1", "2", "3", "4"].map((id) => client.sessions.get(id))));
  expect(service.sent.map(({ url }) => url.split("/").at(-1))).toEqual(["1", "2", "3", "4"]);
});
