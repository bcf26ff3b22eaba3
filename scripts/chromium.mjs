/** The Chromium that tests, benchmarks and pictures use. */

/** Where it is. */
export const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";

/** No sandbox, which containers have no room for; nothing that it would fetch or ask of its own accord. */
export const CHROMIUM_FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
];
