// The Chromium that tests, benchmarks and pictures use.

import { existsSync } from "node:fs";

/** Where it is. */
export const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";

/** Why it cannot run, or `undefined` if it is there. */
export const NO_CHROMIUM = existsSync(CHROMIUM)
  ? undefined
  : `Chromium is not installed${CHROMIUM === "" ? "" : ` at ${CHROMIUM}`} (or set CHROMIUM to its path)`;

/** No sandbox, which containers have no room for; nothing that it would fetch or ask of its own accord. */
export const CHROMIUM_FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
];
