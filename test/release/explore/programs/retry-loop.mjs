import { Client } from "project-automation";

const client = new Client();
for (const title of ["one", "two", "three"])
  for (let left = 2; ; left--)
    try {
      await client.issues.create("web", { title, type: "bug" });
      break;
    } catch (error) {
      if (left === 0) throw error;
    }
