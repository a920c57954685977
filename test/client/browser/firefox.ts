import { existsSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const PLACES = ["/usr/bin/firefox-esr", "/usr/bin/firefox", "/Applications/Firefox.app/Contents/MacOS/firefox"];

/** The browser of this machine, or the one that `FIREFOX_PATH` says. */
export const firefoxPath: string | undefined = process.env["FIREFOX_PATH"] || PLACES.find(existsSync);

export const WHY_NO_FIREFOX = `there is no Firefox: neither at ${PLACES.join(", ")} nor where FIREFOX_PATH says`;

/** Makes the folder of a fresh profile. */
export function makeProfile(): string {
  const profile = mkdtempSync(join(tmpdir(), "firefox-"));
  writeFileSync(join(profile, "user.js"), PREFERENCES);
  return profile;
}

/** Nothing of its own accord: no first-run pages, no updates, no look whether there is a network. */
const PREFERENCES = Object.entries({
  "app.normandy.enabled": false,
  "app.update.disabledForTesting": true,
  "browser.aboutwelcome.enabled": false,
  "browser.newtab.preload": false,
  "browser.shell.checkDefaultBrowser": false,
  "browser.startup.homepage_override.mstone": "ignore",
  "datareporting.policy.dataSubmissionEnabled": false,
  "dom.ipc.processPrelaunch.enabled": false,
  "network.captive-portal-service.enabled": false,
  "network.connectivity-service.enabled": false,
  "network.proxy.type": 0,
  "services.settings.server": "",
  "toolkit.telemetry.enabled": false,
  "toolkit.telemetry.server": "",
})
  .map(([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});\n`)
  .join("");
