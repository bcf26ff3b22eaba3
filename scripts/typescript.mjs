// Loaded before every test file (scripts/test.mjs): has tsx read TypeScript where a suite is written in it or imports the
// package's sources. For all the others it would only take its time to start, and to go through every module.

import { readFileSync } from "node:fs";

const [, suite = ""] = process.argv;
const importsSources = (text) => /(?:from |import\()"[^"]*\/pkg-template\/src\/[^"]+"/.test(text);
if (suite.endsWith(".ts") || (suite.endsWith(".test.mjs") && importsSources(readFileSync(suite, "utf8")))) {
  await import("tsx");
}
