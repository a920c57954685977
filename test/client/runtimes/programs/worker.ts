/** The suite in a dedicated worker. At the end it posts an error of the package, as it came, to its page. */
import { openDoors, runInBrowser } from "./browser.ts";
import type { Settings } from "./run.ts";

addEventListener("message", ({ data }: MessageEvent<Settings>) => void run(data));

async function run(settings: Settings): Promise<void> {
  await runInBrowser(settings, async () => []);
  const { pkg } = await openDoors();
  const client = new pkg.Client({ baseUrl: location.origin, token: "emu_K1_secret" });
  const uncloneable = (): void => undefined;
  const call = client.sessions.get("any", { signal: AbortSignal.abort(uncloneable) });
  postMessage(await call.catch((error: unknown) => error));
}
