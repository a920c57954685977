import { Client, isAutomationError } from "project-automation";
import { ProjectSchema } from "project-automation/schemas";
import { createEmulator } from "project-automation/testing";

async function main() {
  const { baseUrl, token, fetch } = createEmulator({ projects: 3 });
  const client = new Client({ baseUrl, token, fetch });
  const told = [];
  for await (const project of client.projects.list({ limit: 2 })) told.push(ProjectSchema.parse(project).name);
  try {
    await client.sessions.get("missing");
  } catch (error) {
    if (!isAutomationError(error)) throw error;
    told.push(error.kind);
  }
  console.log(told.join(", "));
}

main();
