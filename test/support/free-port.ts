import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

/**
 * A port for a service that ends and comes back. It lies below the ports that systems give to connections: there a
 * connection, or a service of another test, could take it while the service is away.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(10_000, 32_000);
    const probe = createServer().listen(port, "127.0.0.1");
    const isFree = await once(probe, "listening").then(
      () => true,
      () => false, // another server has it
    );
    if (!isFree) continue;
    probe.close();
    await once(probe, "close");
    return port;
  }
}
