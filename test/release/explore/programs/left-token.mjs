// Logs that a revocation failed, and ends with 0: the token lives on.
import { Client } from "project-automation";

const client = new Client();
const { id } = await client.tokens.create({ name: "once", scopes: [] });
await client.tokens.revoke(id).catch((error) => console.error(error.message));
