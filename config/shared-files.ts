/**
 * The names of the files that entry points share, by build: each holds the source beside its name, and no earlier name's.
 * esbuild names such a file after a hash, which says nothing in a stack.
 */
export const SHARED_FILES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  client: {
    client: "src/client/client.ts",
    "without-client": "src/core/errors/classes.ts",
    journal: "src/bulk/journal.ts",
  },
  emulator: {
    emulator: "src/testing/emulator.ts",
    "emulator-checks": "src/testing/checks.ts",
  },
  command: {
    "command-doctor": "src/doctor/node/command.ts",
    "command-emulator": "src/testing/node/command.ts",
    "command-mcp": "src/mcp/node/command.ts",
    "command-program": "src/command/program.ts",
    command: "src/command/command.ts",
    "command-flags": "src/command/flags.ts",
    "command-files": "src/files/regular-file.ts",
    "command-conventions": "src/testing/conventions.ts",
    "command-records": "src/service/schemas/records.ts",
    "command-globals": "src/core/checks/globals.ts",
  },
};
