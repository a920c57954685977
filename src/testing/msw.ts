/** The emulator behind msw: `project-automation/testing/msw`. The only place that needs msw. */

import { HttpResponse, http, type RequestHandler } from "msw";
import type { Emulator } from "./emulator.ts";

/**
 * Request handlers for `setupServer` and `setupWorker` that pass everything under `emulator.baseUrl` to the
 * emulator, faults included: a dropped connection becomes a network error. Requests to other places stay unhandled.
 *
 * @example
 * const server = setupServer(...emulatorHandlers(emulator));
 */
export function emulatorHandlers(emulator: Emulator): RequestHandler[] {
  const base = emulator.baseUrl.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return [
    http.all(new RegExp(`^${base}(?:[/?#]|$)`), async ({ request }) => {
      try {
        return await emulator.fetch(request, { redirect: "manual" });
      } catch {
        return HttpResponse.error();
      }
    }),
  ];
}
