/** A frame: a realm of its own, and in it a copy of the package. */
import { openDoors } from "./browser.ts";

globalThis.copyOfThisRealm = openDoors().then(({ pkg }) => pkg);
