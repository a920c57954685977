import pino from "pino";
import { Client } from "project-automation";
import { startEmulator } from "project-automation/testing/node";
import winston from "winston";

const service = await startEmulator({ projects: 1 });
const loggers = {
  console,
  pino: pino({ level: "debug" }, pino.destination({ sync: true })),
  winston: winston.createLogger({ level: "debug", transports: [new winston.transports.Console()] }),
};
const logger = loggers[process.argv[2]];
service.emulator.fault({ status: 429, headers: { "retry-after": "0" } });
const client = new Client({ baseUrl: service.baseUrl, token: service.token, logger });
await client.projects.list().toArray();
await client.sessions.get("missing").catch(() => {});
await service.close();
