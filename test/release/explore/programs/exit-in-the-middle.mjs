import { Client } from "project-automation";

const client = new Client();
await Promise.all(
  ["one", "two", "three"].map((title) =>
    client.issues.create("web", { title, type: "bug" }).catch(() => process.exit(0)),
  ),
);
