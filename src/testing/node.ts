/** The emulator as a real HTTP server: `project-automation/testing/node`. Needs Node; binds to loopback. */

import type { RunningEmulator, StartOptions } from "./node/running-emulator.ts";
import { startServer } from "./node/start.ts";

export { exploreFaults } from "./node/explore/explore-faults.ts";
export type { ExploredRequest, FaultKind } from "./node/explore/fault-kinds.ts";
export type { ExploredEnd, ExploredStart, ExploreOptions, ProgramContext } from "./node/explore/options.ts";
export { ExplorationError, type ExplorationReport, type Finding } from "./node/explore/report.ts";
export type { Disposal, ListeningEmulator, RunningEmulator, StartOptions } from "./node/running-emulator.ts";

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
