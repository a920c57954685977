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

test("a call with a fetch of the test's own says so, too", async () => {
  const headers = { get: () => null, has: () => false };
  const fetch = async () => ({ status: 200, headers, text: async () => '{"id":"s","state":"on"}' });
  const get = async () =>
    new Client({ baseUrl: "https://automation.example.com/api/v1", token: "t", fetch }).sessions.get("s");
  const told = await get().then(
    ({ state }) => state,
    ({ kind, message }) => `${kind}: ${message}`,
  );
  expect(told).toContain(tells); // a global as well
});
