/** The emulator as a real HTTP server: `project-automation/testing/node`. Needs Node; binds to loopback. */

export { explore } from "../explore/explore.ts";
export type { FaultKind } from "../explore/kinds.ts";
export type { ExplorationProgress, ExploreOptions } from "../explore/options.ts";
export { ExplorationError, type ExplorationReport, type Finding } from "../explore/report.ts";
export type { ExploredRequest } from "../explore/requests.ts";

import type { RunningEmulator, StartOptions } from "../emulator/node/running-emulator.ts";
import { startServer } from "../emulator/node/start.ts";

export type { Disposal, ListeningEmulator, RunningEmulator, StartOptions } from "../emulator/node/running-emulator.ts";

/**
 * Starts the emulator as an HTTP server. Each start is a new world: it refuses the tokens and cursors of an earlier one at the
 * same address.
 *
 * @throws `Error` that names the reason if the address cannot be listened on, and `TypeError` for an option that is
 * unknown, of the wrong type or out of range; it rejects with them
 *
 * @example
 * const service = await startEmulator({ projects: 5 });
 * const client = new Client(service.clientOptions);
 * await service.close();
 */
export async function startEmulator(options?: StartOptions): Promise<RunningEmulator> {
  const { running } = await startServer(options);
  return running;
}
