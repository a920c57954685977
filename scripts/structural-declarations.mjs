/**
 * Leaves the marks of private members (`#private;`) out of the built declarations. With them, each class of the ESM
 * copy is another type than the same class of the CommonJS copy, although each copy takes what the other has made, and
 * an object of a test's own could not stand for a resource.
 */
import { globSync, readFileSync, writeFileSync } from "node:fs";

for (const file of globSync("dist/**/*.d.{ts,cts}")) {
  writeFileSync(file, readFileSync(file, "utf8").replaceAll(/^ +#private;\n/gm, ""));
}
