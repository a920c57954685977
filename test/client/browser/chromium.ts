import { existsSync } from "node:fs";

const PLACES = [
  "/usr/bin/chromium",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

/** The browser of this machine, or the one that `CHROMIUM_PATH` says. */
export const executablePath: string | undefined = process.env["CHROMIUM_PATH"] || PLACES.find(existsSync);

export const WHY_NOT = `there is no Chromium: neither at ${PLACES.join(", ")} nor where CHROMIUM_PATH says`;

/** Without a network of its own, and without what a fresh profile would show. It opens nothing but a loopback site. */
export const ARGUMENTS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  // Each window would load two pages of its address bar.
  "--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup,WebUIOmniboxFullPopup",
];
