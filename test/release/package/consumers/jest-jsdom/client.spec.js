const { Client } = require("project-automation");
const { createEmulator } = require("project-automation/testing");

test("a call through the emulator says what the environment lacks, or works", async () => {
  const list = async () => new Client(createEmulator().clientOptions).projects.list().toArray();
  const said = await list().then(
    ({ length }) => `${length} projects`,
    ({ message }) => message,
  );
  expect(said).toContain(says); // a global of the project's configuration
});
