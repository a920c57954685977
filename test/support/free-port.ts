import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

/** They lie below the ports that systems give to connections: one of those could take the port of a service that is away. */
const [FIRST, END] = [10_000, 32_000];
/** The workers of a run share the ports: each has those with its own remainder. */
const SHARES = 8;
const OWN = Number(process.env["VITEST_POOL_ID"] ?? 0) % SHARES;
let last = SHARES * randomInt(FIRST / SHARES, END / SHARES) + OWN;

/** A port for a service that ends and comes back: it is given once, so no other test takes it while the service is away. */
export async function freePort(): Promise<number> {
  for (;;) {
    last = last + SHARES < END ? last + SHARES : FIRST + OWN;
    const port = last;
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
