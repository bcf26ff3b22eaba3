// The Chromium that tests, benchmarks and pictures use.

import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

/** Where it is. */
export const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";

const shell = join(dirname(CHROMIUM), "chromium-headless-shell");

/**
 * What draws and runs pages in it, without the windows of a browser, if it is installed beside it: a page takes half the
 * processor time. Otherwise the browser.
 */
export const HEADLESS_CHROMIUM = existsSync(shell) ? shell : CHROMIUM;

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
