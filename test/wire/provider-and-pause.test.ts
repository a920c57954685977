import { expect, test } from "vitest";
import { allEnded, fakeTime, pass } from "../support/fake-time.ts";
import { after, good, tooMany } from "../support/replies.ts";
import { scriptedFetch } from "../support/scripted-fetch.ts";

fakeTime();

test("calls that wait for their token while a 429 closes the gate are not sent into the pause", async () => {
  let asked = 0;
  const service = scriptedFetch((sent) => (sent.index === 0 ? after(20, tooMany(1))(sent) : after(5, good)(sent)));
  const client = service.client({
    token: async () => {
      asked += 1;
      // The first call has its token at once. The others wait for theirs until the first has a response.
      if (asked > 1) await new Promise((resolve) => setTimeout(resolve, 50));
      return "pat_provided_0123456789";
    },
  });
  const first = client.sessions.get("1");
  await pass(0);
  const others = Array.from({ length: 5 }, (_, index) => client.sessions.get(`${index + 2}`));
  const settled = allEnded([first, ...others]);
  await pass(2_000);
  await settled;
  const [refused, ...rest] = service.sent;
  expect(rest.length).toBe(6);
  for (const { at } of rest) expect(at - (refused?.at ?? 0)).toBeGreaterThanOrEqual(1_000);
});
