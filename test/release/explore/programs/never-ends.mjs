// fault: lost_before
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "project-automation";

const client = new Client();
let issue;
client.issues.create("web", { title: "one", type: "bug" }).then(
  (created) => {
    issue = created;
  },
  () => {},
);
while (issue === undefined) await sleep(50);
