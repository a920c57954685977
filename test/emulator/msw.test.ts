import { HttpResponse, http } from "msw";
import { setupServer } from "msw/node";
import { afterEach, describe, expect, test } from "vitest";
import { Client } from "../../src/client/index.ts";
import { createEmulator } from "../../src/testing/index.ts";
import { emulatorHandlers } from "../../src/testing/msw.ts";

let close = (): void => undefined;
afterEach(() => {
  close();
  close = () => undefined;
});

function listen(...handlers: Parameters<typeof setupServer>): void {
  const server = setupServer(...handlers);
  server.listen({ onUnhandledFrame: "error" });
  close = () => server.close();
}

describe("the handlers of an emulator", () => {
  test("take what is under its base URL, whatever is in that, and leave the rest to others", async () => {
    const emulator = createEmulator({ baseUrl: "https://x.example:8443/a+b(c)/[v1].$" });
    const other = http.all("*", () => HttpResponse.text("other"));
    listen(...emulatorHandlers(emulator), other);
    const text = async (url: string): Promise<string> => (await fetch(url)).text();
    expect(await text(`${emulator.baseUrl}/projects`)).toContain('"error":"unauthorized"');
    expect(await text(`${emulator.baseUrl}?a=b`)).toContain('"error":"unauthorized"');
    for (const elsewhere of [
      `${emulator.baseUrl}x/projects`,
      "https://x.example:8443/a+b(c)/projects",
      "https://y.example:8443/a+b(c)/[v1].$/projects",
      "https://xyexample:8443/a+b(c)/[v1].$/projects",
    ]) {
      expect(await text(elsewhere)).toBe("other");
    }
    expect(emulator.requests).toHaveLength(2);
  });

  test("are those of createEmulator's result, and of nothing else that has an address", () => {
    const { baseUrl, token } = createEmulator();
    for (const other of [{ baseUrl, token }, new Client({ baseUrl, token }), undefined]) {
      expect(() => emulatorHandlers(other as never)).toThrow("emulator must be one of createEmulator with the method");
    }
  });
});
