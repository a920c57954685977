/** What one copy of the package makes, the other takes: as it is at run time. */
import { type AnyAutomationError, Client, type Paginator, type Path, type Project } from "project-automation";
import { bulkWrite } from "project-automation/bulk";
import { createMcpServer } from "project-automation/mcp";
import { emulatorHandlers } from "project-automation/testing/msw";
import * as other from "./copies.cjs";

const client = new Client(other.options);
new Client({ token: other.token, rateLimiter: other.limiter }).withOptions(other.emulator.clientOptions);
void client.request({ method: "GET", path: other.path });
void createMcpServer(other.made);
void emulatorHandlers(other.emulator);
void bulkWrite({
  client: other.made,
  items: ["a"],
  key: (item) => item,
  send: async () => client,
  journal: other.journal,
});
export const error: AnyAutomationError = other.error;
export const list: Paginator<Project> = other.list;

// A test's own object stands for a resource.
export const fake: Pick<Client, "projects"> = { projects: { list: () => list } };

// @ts-expect-error a string is no path
export const text: Path = "/projects";
// @ts-expect-error nor is an object of its looks
export const lookalike: Path = { template: "/projects" };
