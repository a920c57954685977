import pino from "pino";
import { Client } from "project-automation";
import { startEmulator } from "project-automation/testing/node";
import winston from "winston";

const service = await startEmulator({ projects: 1 });
const log = pino({ level: "debug" }, pino.destination({ sync: true }));
const loggers = {
  console,
  // pino takes the fields first.
  pino: {
    debug: (line, fields) => log.debug(fields, line),
    info: (line, fields) => log.info(fields, line),
    warn: (line, fields) => log.warn(fields, line),
    error: (line, fields) => log.error(fields, line),
  },
  winston: winston.createLogger({ level: "debug", transports: [new winston.transports.Console()] }),
};
const logger = loggers[process.argv[2]];
service.emulator.fault({ status: 429, headers: { "retry-after": "0" } });
const client = new Client({ baseUrl: service.baseUrl, token: service.token, logger, logLevel: "debug" });
await client.projects.list().toArray();
await client.sessions.get("missing").catch(() => {});
await service.close();
