/**
 * Some tests need what a bare machine does not have: further runtimes, browsers, a Redis, the tools of users. Where it is
 * missing they are skipped, and say so; with this variable set, as `.ci/run` does, they fail instead.
 */
export const NEEDS_ALL: boolean = Boolean(process.env["PROJECT_AUTOMATION_ALL_TESTS"]);
