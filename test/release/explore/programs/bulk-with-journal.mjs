import { Client } from "project-automation";
import { bulkWrite } from "project-automation/bulk";
import { fileJournal } from "project-automation/bulk/node";

const summary = await bulkWrite({
  client: new Client(),
  items: ["one", "two", "three"],
  key: (title) => title,
  send: (client, title) => client.issues.create("web", { title, type: "bug" }),
  journal: fileJournal("import.journal"),
});
if (summary.done < 3) process.exitCode = 1;
