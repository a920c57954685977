const { Client, NotFoundError } = require("project-automation");
const { startEmulator } = require("project-automation/testing/node");

async function main() {
  const service = await startEmulator({ projects: 3 });
  const client = new Client({ baseUrl: service.baseUrl, token: service.token });
  const told = [];
  for await (const project of client.projects.list({ limit: 2 })) told.push(project.name);
  try {
    await client.sessions.get("missing");
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error;
    told.push(error.kind);
  }
  await service.close();
  console.log(told.join(", "));
}

main();
