import { Client } from "project-automation";

const client = new Client();
const results = await Promise.allSettled(
  ["one", "two", "three"].map((title) => client.issues.create("web", { title, type: "bug" })),
);
console.log(results.filter(({ status }) => status === "rejected").length, "failed");
