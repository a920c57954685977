/**
 * Some tests need what a bare machine does not have: further runtimes, browsers, a Redis, the tools of users. Where it is
 * missing they are skipped, and say so; with this variable set, as `.ci/run` does, they fail instead.
 */
export const NEEDS_ALL: boolean = Boolean(process.env["PROJECT_AUTOMATION_ALL_TESTS"]);

/** Part of the random schedules, seeds and crowds that a test tries on a developer's machine. */
const SHARE = 1 / 8;

/** So many of them where nothing is left out, and a share of them elsewhere. */
export const shareOf = (all: number): number => (NEEDS_ALL ? all : Math.ceil(all * SHARE));
