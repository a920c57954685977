/** A network that goes away under a connection: its codes are also those of connections that were never made. */
import { describe, expect, test } from "vitest";
import { ended, fakeTime } from "../support/fake-time.ts";
import { fetchFailed } from "../support/fetch-errors.ts";
import { good, throws } from "../support/replies.ts";
import { scriptedFetch } from "../support/scripted-fetch.ts";

fakeTime();

const input = { title: "t", type: "bug" };

describe.each(["EHOSTUNREACH", "ENETUNREACH", "ENETDOWN"])("%s", (code) => {
  test.each(["read", "write"])("of a %s: a POST is not sent again, since it may have been applied", async (syscall) => {
    const service = scriptedFetch(throws(() => fetchFailed(code, { syscall })));
    const { error } = await ended(service.client().issues.create("web", input));
    expect(error).toMatchObject({ kind: "connection", outcome: "unknown", attempts: 1, platformCode: code });
    expect(service.sent).toHaveLength(1);
  });

  test("of a read: a GET is sent again", async () => {
    const service = scriptedFetch(
      throws(() => fetchFailed(code, { syscall: "read" })),
      good,
    );
    const { value } = await ended(service.client().sessions.get("1"));
    expect(value).toMatchObject({ id: "ses_1" });
  });

  test("of a connect: a POST is sent again, since it was never sent", async () => {
    const service = scriptedFetch(
      throws(() => fetchFailed(code, { syscall: "connect" })),
      good,
    );
    const { value } = await ended(service.client().issues.create("web", input));
    expect(value).toMatchObject({ number: 1 });
    expect(service.sent).toHaveLength(2);
  });
});
