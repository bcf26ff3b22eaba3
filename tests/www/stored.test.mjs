// What a browser keeps for the page's origin may be of an older version, or of another page that was once served from the
// same port: whatever it is, the page opens, says nothing that is not so, and works.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertHarmless, MARKUP, watched } from "./hostile.mjs";
import { example, playground, skip } from "./support.mjs";

/** Values that no version stored under any key, and those of whom a part is missing. */
const JUNK = [
  null,
  5,
  "text",
  MARKUP,
  [],
  [null],
  [5],
  [{}],
  {},
  { kind: "nobody", fields: null, prices: null },
  { kind: "__proto__", fields: { __proto__x: 1, nobody: null, gemini: null, openai: 5 }, prices: { m: null } },
  { kind: "gemini", fields: { gemini: { apiKey: 5, baseUrl: {}, model: null } }, prices: { [MARKUP]: { input: 5 } } },
  { startedAt: "never", isFinished: false },
  { startedAt: 1e300, isFinished: false },
  { roles: 5, actualOf: null, config: 7, judge: 7, options: 7, example: {}, isPristine: "x" },
  { roles: [[0, "nothing"], 5], actualOf: [[0]], config: MARKUP, judge: {}, options: {}, example: MARKUP },
  { files: 5, bytes: new Uint8Array(5) },
  { files: [null], bytes: "text" },
  { files: [], bytes: new Uint8Array([31, 139, 8, 0, 0, 0, 0, 0, 0, 3, 1, 2, 3]) },
  [{ name: 5, folder: null, bytes: "text" }],
  [{ name: MARKUP, folder: MARKUP, bytes: new Uint8Array([123]) }],
  [["a", "b"], [5, NaN], 7, ["response_match_score", Infinity]],
];
const KEYS = ["state", "files", "settings", "runs", "shown", "run/text"];

describe("what a browser has kept", { skip }, () => {
  const site = playground();

  /** Opens the page anew with something in its storage, and sees whether it works. */
  async function opensWith(page, what, store, value) {
    await page.evaluate(store, value);
    await page.goto("about:blank");
    await page.goto(`${site.origin}/#/files`);
    await page.locator("main h1").first().waitFor();
    for (const screen of ["run", "criteria", "files"]) {
      await page.evaluate((hash) => (location.hash = hash), `#/${screen}`);
      await page.locator("main h1").first().waitFor();
    }
    assert.deepEqual(page.mistakes, [], what);
  }

  test("in its database", async () => {
    const page = await site.open();
    await page.locator("main h1").first().waitFor();
    const did = watched(page);
    const store = async (entries) => {
      const asked = indexedDB.open("adk-metrics-playground", 1);
      asked.onupgradeneeded = () => asked.result.createObjectStore("runs");
      await new Promise((resolve) => (asked.onsuccess = resolve));
      const change = asked.result.transaction("runs", "readwrite");
      change.objectStore("runs").clear();
      for (const [key, value] of entries) change.objectStore("runs").put(value, key);
      await new Promise((resolve) => (change.oncomplete = resolve));
      asked.result.close();
    };
    for (const [at, value] of JUNK.entries()) {
      for (const key of KEYS) {
        await opensWith(page, `${key} is number ${at}`, store, [[key, value]]);
        await assertHarmless(page, did, `${key} ${at}`);
      }
      // What is restored together.
      await opensWith(
        page,
        `all are number ${at}`,
        store,
        KEYS.map((key) => [key, value]),
      );
    }
    // What is there now does not keep the page from its work.
    await page
      .locator("input[type=file]")
      .first()
      .setInputFiles([example("weather", "weather.evalset.json"), example("weather", "weather.actual.json")]);
    await page.getByRole("button", { name: "Score 5 cases" }).click();
    await page.waitForURL("**/#/results");
    await site.done(page);
  });

  test("of the settings of judges", async () => {
    const page = await site.open();
    await page.locator("main h1").first().waitFor();
    const texts = ["", "{", "null", ...JUNK.map((value) => JSON.stringify(value))];
    for (const text of texts) {
      await opensWith(page, text, (value) => localStorage.setItem("judge", value), text);
    }
    await site.done(page);
  });
});
