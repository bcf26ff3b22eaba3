// `adk-metrics playground <folder>`: the page opens what is in it, and follows what changes.

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, describe, test } from "node:test";
import { assertHarmless, OWN, watched } from "./hostile.mjs";
import { areKept, becomes, example, keptRecords, playground, says, skip, violations } from "./support.mjs";

const folder = mkdtempSync(join(tmpdir(), "followed-"));
const file = (...path) => join(folder, ...path);

/** Writes as `adk eval` and `eval --output` do, all at once. */
function put(text, ...path) {
  mkdirSync(dirname(file(...path)), { recursive: true });
  writeFileSync(`${file(...path)}.tmp`, text);
  renameSync(`${file(...path)}.tmp`, file(...path));
}

const travel = JSON.parse(readFileSync(example("travel-concierge", "travel-concierge.evalset_result.json"), "utf8"));
const HISTORY = ["agent", ".adk", "eval_history"];

/** Results of an evalset in ADK's history, with a status for all cases. */
function resultsOf(name, status, at) {
  return JSON.stringify({
    ...travel,
    creation_timestamp: at,
    eval_set_result_id: name,
    eval_case_results: travel.eval_case_results.map((one) => ({
      ...one,
      final_eval_status: status,
      overall_eval_metric_results: [{ metric_name: "names_a_price", score: 0.25, eval_status: status }],
    })),
  });
}

const total = travel.eval_case_results.length;
const tally = (page) => page.locator(".tally");

describe("the files of the command", { skip }, () => {
  put(resultsOf("first", 1, 1000), ...HISTORY, "first.evalset_result.json");
  put('{"name":"not an evaluation"}', "agent", "package.json");
  put("{}", "agent", "node_modules", "p", "package.json");
  const site = playground({ args: [folder], serviceWorkers: "allow" });
  after(() => rmSync(folder, { recursive: true }));

  /** A page at the address that the command printed. */
  const followed = (options) => site.open({ at: site.address.slice(site.origin.length + 1), ...options });

  test("are open at once, and new results are shown as they are written", async () => {
    const page = await followed();
    await page.waitForURL("**/#/results");
    await says(tally(page), new RegExp(`Passed ${total}`));
    assert.doesNotMatch(page.url(), /follow/);

    put(resultsOf("second", 2, 2000), ...HISTORY, "second.evalset_result.json");
    await page.getByText("New results were opened: second.evalset_result.json.").waitFor();
    await says(tally(page), new RegExp(`Failed ${total}`));
    assert.deepEqual(await violations(page), []);
    await page.getByRole("button", { name: "Dismiss" }).click();

    // What one reads is not taken away.
    await page.locator(".grid a, [role=grid] a").first().click();
    await page.waitForURL("**/#/case/**");
    const at = page.url();
    put(resultsOf("third", 1, 3000), ...HISTORY, "third.evalset_result.json");
    await page.getByText("New results: third.evalset_result.json.").waitFor();
    assert.equal(page.url(), at);
    await page.emulateMedia({ colorScheme: "dark" });
    await page.setViewportSize({ width: 390, height: 800 });
    assert.deepEqual(await violations(page), []);
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.getByRole("button", { name: "Show them" }).click();
    await says(tally(page), new RegExp(`Passed ${total}`));

    // A reload goes on, and does not open again what was open.
    const runs = page.getByRole("combobox", { name: "Run", exact: true }).locator("option");
    await becomes(() => runs.count(), 3);
    await becomes(async () => {
      const { runs, shown } = await keptRecords(page);
      return runs?.length === 3 && runs[2].id === shown;
    }, true);
    await page.reload();
    await says(tally(page), new RegExp(`Passed ${total}`));
    await becomes(() => runs.count(), 3);
    put(resultsOf("fourth", 2, 4000), ...HISTORY, "fourth.evalset_result.json");
    await says(tally(page), new RegExp(`Failed ${total}`));
    await becomes(() => runs.count(), 4);
    await site.done(page);
  });

  test("are what a second page gets too, with evalsets that it edits without losing the edits", async () => {
    const evalSet = readFileSync(example("weather", "weather.evalset.json"), "utf8");
    put(evalSet, "weather", "weather.evalset.json");
    const page = await followed();
    await page.waitForURL("**/#/results");
    await page.getByRole("link", { name: "Files" }).click();
    await page.getByText(/One other JSON file is not part of an evaluation and was left out\./).waitFor();
    await page.getByText("Files that were left out").click();
    await page
      .getByRole("listitem")
      .filter({ hasText: /^.*agent\/package\.json$/ })
      .waitFor();
    await page.getByRole("link", { name: /weather\.evalset\.json/ }).click();
    await page.locator(".cm-content").click();
    await page.keyboard.press("Control+Home");
    await page.keyboard.type(" ");
    await page.keyboard.press("Escape");
    put(`${evalSet}\n\n`, "weather", "weather.evalset.json");
    await page.getByText(/weather\.evalset\.json changed on disk, too\. The page keeps your edits/).waitFor();
    assert.deepEqual(await violations(page), []);
    await page.getByRole("button", { name: "Read again, without my edits" }).click();
    await page.getByRole("link", { name: "Files" }).click();
    await page.getByText("Files that were left out").waitFor({ state: "detached" });
    await page.getByRole("link", { name: /weather\.evalset\.json/ }).click();
    await says(page.getByText(/can be read/), /can be read/);
    rmSync(file("weather", "weather.evalset.json"));
    await page.getByText(/weather\.evalset\.json was deleted on disk\. The page keeps what it has read\./).waitFor();
    await site.done(page);
  });

  test("are not followed any more when the command has ended, and the page says so", async () => {
    // What the service worker asks for cannot be cut off here.
    const page = await followed({ serviceWorkers: "block" });
    await page.waitForURL("**/#/results");
    await page.route("**/followed", (route) => route.abort());
    await page.getByText("The files are no longer followed: the command that served them has ended.").waitFor();
    await areKept(page, "runs", "shown");
    await page.reload();
    await says(tally(page), /Cases/);
    // Browsers log requests that fail: here the one that found nobody, and none after it.
    assert.equal(page.mistakes.length, 1, page.mistakes.join());
    await page.context().close();
  });

  test("may have hostile names, and nothing is asked of others", async () => {
    const page = await followed();
    const did = watched(page);
    await page.waitForURL("**/#/results");
    const name = `<img src=x onerror="${OWN}">.evalset_result.json`;
    put(resultsOf("hostile", 2, 5000), name);
    await page.getByText(`New results were opened: ${name}.`).waitFor();
    await assertHarmless(page, did, "results");
    await site.done(page);
  });
});
