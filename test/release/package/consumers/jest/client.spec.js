const { Client, isAutomationError, NotFoundError } = require("project-automation");
const { createEmulator } = require("project-automation/testing");
const { startEmulator } = require("project-automation/testing/node");

test("walks the projects and tells a typed error", async () => {
  const { baseUrl, token, fetch } = createEmulator({ projects: 3 });
  const client = new Client({ baseUrl, token, fetch });
  const names = (await client.projects.list({ limit: 2 }).toArray()).map(({ name }) => name);
  expect(names).toEqual(["project-1", "project-2", "project-3"]);
  const error = await client.sessions.get("missing").catch((reason) => reason);
  expect(error).toBeInstanceOf(NotFoundError);
  expect(error).toBeInstanceOf(Error);
  expect(isAutomationError(error)).toBe(true);
  await expect(client.sessions.get("missing")).rejects.toThrow(NotFoundError);
});

test("talks to a server", async () => {
  const service = await startEmulator({ projects: 3 });
  const client = new Client({ baseUrl: service.baseUrl, token: service.token });
  await expect(client.projects.list({ limit: 2 }).toArray()).resolves.toHaveLength(3);
  await expect(client.sessions.get("missing")).rejects.toMatchObject({ kind: "not_found", status: 404 });
  await service.close();
});
