/** The emulator behind msw: `project-automation/testing/msw`. The only place that needs msw. */

import * as msw from "msw";
import { withMethods } from "../core/checks/validators.ts";
import { check } from "../emulator/checks.ts";
import type { Emulator } from "../emulator/emulator.ts";

// An import of `http` by its name would fail with the platform's message, which does not say what to do.
if (!("http" in msw)) {
  throw new Error(
    "project-automation/testing/msw needs msw 2 or later: the one that is installed is older, without http",
  );
}

/**
 * Request handlers for `setupServer` and `setupWorker` that pass everything under `emulator.baseUrl` to the
 * emulator, faults included: a dropped connection becomes a network error. Requests to other places stay unhandled.
 *
 * @example
 * const server = setupServer(...emulatorHandlers(emulator));
 */
export function emulatorHandlers(emulator: Emulator): msw.HttpHandler[] {
  check.value(emulator, "emulator", withMethods<Emulator>("one of createEmulator", "fetch"));
  const base = emulator.baseUrl.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return [
    msw.http.all(new RegExp(`^${base}(?:[/?#]|$)`), async ({ request }) => {
      try {
        return await emulator.fetch(request, { redirect: "manual" });
      } catch (error) {
        // The cause of the network error that `fetch` rejects with: it names the host, as that of the platform does.
        return Object.assign(msw.HttpResponse.error(), (error as Error).cause); // `emulator.fetch` rejects with errors
      }
    }),
  ];
}
