import type { Disturbance } from "./fault-kinds.ts";
import { KINDS, subjectOf } from "./fault-kinds.ts";

/** The parts of a script beside its faults. */
export interface ScriptSource {
  readonly disturbances: readonly Disturbance[];
  readonly starts: number;
  readonly isPrepared: boolean;
  readonly hasEmulatorOptions: boolean;
}

/** A whole program that shows a finding after one of its starts. It imports the explored program, and waits in real time. */
export function scriptOf({ disturbances, starts, isPrepared, hasEmulatorOptions }: ScriptSource): string {
  const own = ["program", ...(isPrepared ? ["prepare"] : []), ...(hasEmulatorOptions ? ["emulatorOptions"] : [])];
  const stops = disturbances.flatMap(({ fault }, index) => (fault === "stopped" ? [`fault${index + 1}.hits`] : []));
  const canStop = stops.length > 0;
  const begun = "Promise.resolve().then(() => program({ client, clientOptions, prepared, start }))";
  const call = `${begun}.then(() => "resolved", String)`;
  return `import { Client } from "project-automation";
import { createEmulator } from "project-automation/testing";
import { ${own.join(", ")} } from "./program.js"; // yours

const emulator = createEmulator(${hasEmulatorOptions ? "emulatorOptions" : ""});
const sessions = emulator.sessions.list();
const { clientOptions } = emulator;
const prepared = ${isPrepared ? "await prepare()" : "undefined"};
${disturbances.map(faultLines).join("\n")}
for (let start = 1; start <= ${starts}; start += 1) {
  for (const { id, state } of sessions) emulator.sessions.update(id, { state });
  const client = new Client(clientOptions);
${canStop ? stopLines(stops.join(" + ")) : ""}  console.log(start, await ${canStop ? `Promise.race([${call}, stopped()])` : call});
${disturbances.map(endLine).join("")}  for (const { name } of emulator.projects.list()) console.log(name, emulator.issues.list(name));
  console.log(emulator.tokens.list().filter(({ state }) => state === "active"));
}
${canStop ? "process.exit(); // the request of a stopped start still waits\n" : ""}`;
}

const stopLines = (hits: string): string => `  const hits = ${hits};
  const stopped = async () => {
    while (${hits} === hits) await new Promise((resolve) => setTimeout(resolve, 10));
    return "stopped";
  };
`;

const endLine = ({ fault }: Disturbance, index: number): string =>
  fault === "outage" ? `  if (fault${index + 1}.hits > 0) fault${index + 1}.remove(); // the outage ends\n` : "";

function faultLines({ fault, request }: Disturbance, index: number): string {
  const name = `fault${index + 1}`;
  const effect = Object.entries(KINDS[fault].effect).map(([key, value]) => `${key}: ${literalOf(value)}`);
  const isSame =
    request.operation === undefined
      ? `\`\${request.method} \${request.path}\` === ${JSON.stringify(subjectOf(request))}`
      : `request.operation === ${JSON.stringify(request.operation)}`;
  const operation =
    request.operation === undefined
      ? `match: (request) => ${isSame}`
      : `operation: ${JSON.stringify(request.operation)}`;
  if (fault !== "outage")
    return `const ${name} = emulator.fault({ ${operation}, skip: ${request.index}, ${effect.join(", ")} });`;
  return `let seen${index + 1} = 0;
const ${name} = emulator.fault({
  match: (request) => (${isSame} && (seen${index + 1} += 1), seen${index + 1} > ${request.index}),
  ${effect.join(", ")},
});`;
}

const literalOf = (value: unknown): string => (value === Infinity ? "Infinity" : JSON.stringify(value));
