import { expect, test } from "@jest/globals";
import { Client, isAutomationError, NotFoundError, type Project } from "project-automation";
import { ProjectSchema } from "project-automation/schemas";
import { createEmulator } from "project-automation/testing";
import { startEmulator } from "project-automation/testing/node";

test("walks the projects and tells a typed error", async () => {
  const { baseUrl, token, fetch } = createEmulator({ projects: 3 });
  const client = new Client({ baseUrl, token, fetch });
  const projects: Project[] = [];
  for await (const project of client.projects.list({ limit: 2 })) projects.push(ProjectSchema.parse(project));
  expect(projects.map(({ name }) => name)).toEqual(["project-1", "project-2", "project-3"]);
  const error: unknown = await client.sessions.get("missing").catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(NotFoundError);
  expect(isAutomationError(error) && error.kind === "not_found" && error.status).toBe(404);
});

test("talks to a server", async () => {
  const service = await startEmulator({ projects: 3 });
  const client = new Client({ baseUrl: service.baseUrl, token: service.token });
  await expect(client.projects.list({ limit: 2 }).toArray()).resolves.toHaveLength(3);
  await service.close();
});
