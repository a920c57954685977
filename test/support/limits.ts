/** The limits of all that waits: they end what hangs, and are far above what the slowest machine takes. */

/** A wait of a test for one event: of `expect.poll`, which has this limit by itself. */
export const LIMIT_MS = 30_000;

/** A whole test, or a hook. */
export const TEST_LIMIT_MS = 240_000;

/** A program that a test starts, with waits of its own. Below the limit of the test, which then says what was printed. */
export const PROGRAM_LIMIT_MS = 200_000;
