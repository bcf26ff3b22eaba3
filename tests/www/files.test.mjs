// What comes in: files in every shape, matched up, looked at, corrected.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { root } from "../package/support/package.mjs";
import { areKept, becomes, example, keptRecords, playground, skip, violations } from "./support.mjs";

const named = (name, text) => ({ name, mimeType: "application/json", buffer: Buffer.from(text) });
const read = (...path) => readFileSync(example(...path), "utf8");

/** Adds files as the button does. */
const choose = (page, files) => page.getByLabel("Choose files").setInputFiles(files);

/** Whether the browser would ask before the page is left. */
const isWarned = (page) =>
  page.evaluate(() => !globalThis.dispatchEvent(new Event("beforeunload", { cancelable: true })));

/** The name of what the agent did, by that of its evalset. */
const actualOf = async (page, evalSet) =>
  page.getByLabel(`Agent run for ${evalSet}`).evaluate((select) => select.selectedOptions[0].textContent);

describe("files", { skip }, () => {
  const site = playground();

  test("an example is scored, explained and put under another threshold within a few clicks", async () => {
    const page = await site.open();
    await page.getByRole("button", { name: "Museum guide: Score it" }).click();
    await page.waitForURL("**/#/results");
    await page.getByRole("heading", { name: "Results" }).waitFor();
    await page.getByText("student_ticket").first().waitFor();
    const slider = page.getByRole("slider").first();
    await slider.focus();
    const before = await slider.getAttribute("aria-valuenow");
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("ArrowUp");
    await becomes(async () => (await slider.getAttribute("aria-valuenow")) !== before, true);
    await site.done(page);
  });

  test("every example can be scored", async () => {
    const page = await site.open();
    const buttons = page.getByRole("button", { name: /: Score it$/ });
    await buttons.first().waitFor();
    const names = await buttons.evaluateAll((all) => all.map((button) => button.textContent));
    assert.equal(names.length, 11);
    for (const name of names) {
      await page.goto(`${site.origin}/#/files`);
      await page.getByRole("button", { name, exact: true }).click();
      await page.waitForURL("**/#/results");
    }
    await page.goto(`${site.origin}/#/run`);
    await page.getByText("This page has sent no requests.").waitFor();
    await site.done(page);
  });

  test("several files are matched up, and the pairs can be corrected", async () => {
    const page = await site.open();
    await choose(page, [
      example("weather", "weather.evalset.json"),
      example("shop-assistant", "shop.inferences.json"),
      example("weather", "weather.actual.json"),
      example("shop-assistant", "shop.evalset.json"),
      example("weather", "test_config.json"),
    ]);
    await page.getByText("5 files were added.").waitFor();
    assert.equal(await actualOf(page, "weather.evalset.json"), "weather.actual.json");
    assert.equal(await actualOf(page, "shop.evalset.json"), "shop.inferences.json");
    assert.deepEqual(await violations(page), []);
    await page.getByLabel("Agent run for weather.evalset.json").selectOption({ label: "Nothing" });
    await page.getByText("weather.evalset.json has no agent run yet.").waitFor();
    await page.getByLabel("Agent run for weather.evalset.json").selectOption({ label: "weather.actual.json" });
    await page.getByRole("button", { name: /^Score \d+ cases$/ }).click();
    await page.waitForURL("**/#/results");
    await site.done(page);
  });

  test("runs of an evalset in which ids come again are what the agent did, and their cases can be scored", async () => {
    const evalSet = read("weather", "weather.evalset.json");
    const { eval_cases: cases } = JSON.parse(read("weather", "weather.actual.json"));
    const runs = JSON.stringify({ eval_set_id: "weather", eval_cases: [...cases, ...cases] });
    for (const name of ["weather.actual.json", "recorded.json"]) {
      const page = await site.open();
      await choose(page, [named(name, runs), named("weather.evalset.json", evalSet)]);
      await page.getByText("2 files were added.").waitFor();
      assert.equal(await actualOf(page, "weather.evalset.json"), name);
      await page.getByRole("button", { name: "Score 5 cases" }).click();
      await page.waitForURL("**/#/results");
      await page.getByText("10 cases").first().waitFor();
      await site.done(page);
    }
  });

  test("own files take the place of an example's, unless something was changed in it", async () => {
    const page = await site.open();
    await page.getByRole("button", { name: "Open files of Museum guide" }).click();
    await page.getByRole("heading", { name: "Museum guide", level: 2 }).waitFor();
    const own = [example("weather", "weather.evalset.json"), example("weather", "weather.actual.json")];
    await choose(page, own);
    await page.getByRole("heading", { name: "Your files" }).waitFor();
    await becomes(() => page.getByRole("link", { name: /museum-guide/ }).count(), 0);
    await page.getByRole("button", { name: "Score 5 cases" }).click();
    await page.waitForURL("**/#/results");

    await page.goto(`${site.origin}/#/files`);
    await page.getByRole("button", { name: "Open files of Museum guide" }).click();
    await page.getByRole("link", { name: "Choose criteria" }).click();
    await page.getByRole("checkbox", { name: "safety_v1", exact: true }).uncheck();
    await page.goto(`${site.origin}/#/files`);
    await choose(page, own);
    await page.getByText("2 files were added.").waitFor();
    await becomes(() => page.getByRole("link", { name: "museum-guide.evalset.json" }).count(), 1);
    await page.getByRole("button", { name: "Remove all files" }).click();
    await page.getByRole("heading", { name: "Try an example" }).waitFor();
    await site.done(page);
  });

  test("a folder is taken with all that belongs together", async () => {
    const page = await site.open();
    await page.getByLabel("Choose a folder").setInputFiles(example("travel-concierge"));
    await page.getByText("3 files were added.").waitFor();
    assert.equal(
      await actualOf(page, "travel-concierge.evalset.json"),
      "travel-concierge/travel-concierge.evalset_result.json",
    );
    await site.done(page);
  });

  test("files can be dropped, and text pasted", async () => {
    const page = await site.open();
    await page.getByRole("heading", { level: 1 }).waitFor();
    const text = read("weather", "weather.evalset.json");
    await page.evaluate((text) => {
      const data = new DataTransfer();
      data.items.add(new File([text], "weather.evalset.json"));
      const area = document.querySelector('[aria-label="Add files"]');
      area.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
    }, text);
    await page.getByText("weather.evalset.json was added.").waitFor();
    await page.evaluate(
      (text) => {
        const clipboardData = new DataTransfer();
        clipboardData.setData("text/plain", text);
        document.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
      },
      read("weather", "weather.actual.json"),
    );
    await page.getByText("pasted-1.json was added.").waitFor();
    assert.equal(await actualOf(page, "weather.evalset.json"), "pasted-1.json");
    await site.done(page);
  });

  test("results open as they are, with metrics of the user's own, and are scored again only when asked", async () => {
    const page = await site.open();
    const stored = JSON.parse(read("travel-concierge", "travel-concierge.evalset_result.json"));
    // Nothing is scored in it yet.
    await choose(page, [named("own.evalset_result.json", JSON.stringify(stored))]);
    await page.getByRole("button", { name: /^Score \d+ cases$/ }).waitFor();
    assert.equal(await page.getByRole("button", { name: "Open the results" }).count(), 0);
    for (const one of stored.eval_case_results) {
      one.final_eval_status = 2;
      one.overall_eval_metric_results = [{ metric_name: "names_a_price", score: 0.25, threshold: 0.5, eval_status: 2 }];
    }
    await page.getByRole("button", { name: "Remove all files" }).click();
    await choose(page, [named("own.evalset_result.json", JSON.stringify(stored))]);
    await page
      .getByText(/^Scoring again replaces them: \d+ cases by tool_trajectory_avg_score, response_match_score\.$/)
      .waitFor();
    await page.getByRole("button", { name: "Score again", exact: true }).click();
    await page.waitForURL("**/#/results");
    await page.getByRole("columnheader", { name: /tool_trajectory_avg_score/ }).waitFor();
    await page.getByRole("link", { name: "Files" }).click();
    await page.getByRole("button", { name: "Open the results", exact: true }).click();
    await page.waitForURL("**/#/results");
    const cases = stored.eval_case_results.length;
    await page
      .getByText(new RegExp(`^${cases} cases?$`))
      .first()
      .waitFor();
    assert.equal(await page.getByRole("columnheader", { name: /names_a_price/ }).count(), 1);
    assert.equal(await page.getByRole("columnheader", { name: /tool_trajectory_avg_score/ }).count(), 0);
    assert.match(await page.locator(".tally").innerText(), new RegExp(`Failed\\s+${cases}\\s`));
    await site.done(page);
  });

  test("exported JSON lines open with everything in them, after a reload too", async () => {
    const page = await site.open();
    await page.getByRole("button", { name: "Museum guide: Score it" }).click();
    await page.waitForURL("**/#/results");
    const tally = await page.locator(".tally").innerText();
    await page.getByText("Export", { exact: true }).click();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: /^JSON lines/ }).click(),
    ]);
    const file = await download.path();
    await page.goto(page.url().replace(/#.*/, ""));
    await page.reload();
    await choose(page, [{ name: download.suggestedFilename(), mimeType: "", buffer: readFileSync(file) }]);
    await page.getByText(/^Evalset results/).waitFor();
    await page.getByRole("button", { name: "Open the results", exact: true }).click();
    await page.waitForURL("**/#/results");
    assert.equal(await page.locator(".tally").innerText(), tally);
    await page.getByText("student_ticket").first().click();
    await page
      .getByText(/^Sample 1|^No sample 1|sample 1/i)
      .first()
      .waitFor();
    await site.done(page);
  });

  test("a reload loses nothing: files, config, results, thresholds", async () => {
    const page = await site.open();
    await choose(page, [example("weather", "weather.evalset.json"), example("weather", "weather.actual.json")]);
    await choose(page, [named("test_config.json", '{ "criteria": { "response_match_score": 0.75 } }')]);
    await page.getByRole("button", { name: "Score 5 cases" }).click();
    await page.waitForURL("**/#/results");
    const slider = page.getByRole("slider").first();
    await slider.focus();
    await slider.press("Home");
    await page.getByRole("heading", { name: /^Verdicts flip/ }).waitFor();
    const tally = await page.locator(".tally").innerText();
    // Kept after a moment without a change.
    await areKept(page, "files", "settings", "shown");
    await becomes(async () => (await keptRecords(page)).runs?.[0]?.thresholds.length, 1);
    await page.reload();
    await page.getByRole("heading", { name: /^Verdicts flip/ }).waitFor();
    assert.equal(await page.locator(".tally").innerText(), tally);
    await page.getByRole("link", { name: "Files" }).click();
    assert.equal(await actualOf(page, "weather.evalset.json"), "weather.actual.json");
    await page.getByRole("link", { name: "Criteria", exact: true }).click();
    await page.getByRole("link", { name: "JSON", exact: true }).click();
    await page.getByText("0.75").waitFor();
    await page.getByRole("link", { name: "Run", exact: true }).click();
    await page.getByRole("button", { name: "Forget all of it" }).click();
    await page.getByText("Nothing is kept in this browser any more.").waitFor();
    await page.reload();
    await page.getByText("There is nothing to score yet.").waitFor();
    await site.done(page);
  });

  test("of an eval history the newest results open, and older ones are there to compare", async () => {
    const page = await site.open();
    const stored = JSON.parse(read("travel-concierge", "travel-concierge.evalset_result.json"));
    const history = [1, 2, 3].map((age) =>
      named(
        `travel_${age}.evalset_result.json`,
        JSON.stringify({
          ...stored,
          creation_timestamp: 1_790_000_000 + 86_400 * age,
          eval_case_results: stored.eval_case_results.map((one) => ({
            ...one,
            final_eval_status: age === 3 ? 2 : 1,
            overall_eval_metric_results: [
              { metric_name: "names_a_price", score: 0.25, eval_status: age === 3 ? 2 : 1 },
            ],
          })),
        }),
      ),
    );
    await choose(page, history);
    await page.getByRole("button", { name: "Open the results of 3 files" }).click();
    await page.waitForURL("**/#/results");
    const cases = stored.eval_case_results.length;
    assert.match(await page.locator(".tally").innerText(), new RegExp(`Cases\\s+${cases}\\s+Passed\\s+0\\s`));
    await page.getByText("These are the newest results in the files; 2 older runs are under Compare.").waitFor();
    await page.getByRole("navigation", { name: "Steps" }).getByRole("link", { name: "Compare" }).click();
    await page.getByRole("heading", { name: "Compare" }).waitFor();
    const chosen = page.getByLabel(/baseline/i).first();
    const runs = await chosen.evaluate((select) => [...select.options].map(({ text }) => text));
    assert.equal(runs.filter((name) => /2026/.test(name)).length, 2, runs.join(" | "));
    // The one before the newest.
    await becomes(() => chosen.evaluate((select) => select.selectedOptions[0].text.slice(0, 2)), "23");
    await site.done(page);
  });

  test("traces are what an agent did, too", async () => {
    const page = await site.open();
    const traces = join(root, "tests/interop/traces");
    await choose(page, [join(traces, "weather.evalset.json"), join(traces, "adk-python-spans.jsonl")]);
    await page.getByText(/OpenTelemetry traces · \d+ runs?/).waitFor();
    assert.equal(await actualOf(page, "weather.evalset.json"), "adk-python-spans.jsonl");
    await page.getByRole("button", { name: /^Score \d+ cases?$/ }).click();
    await page.waitForURL("**/#/results");
    await site.done(page);
  });

  test("a mistake stands at its place in an editor, and goes when it is corrected", async () => {
    const page = await site.open();
    const broken = read("weather", "weather.evalset.json").replace(/"eval_id": "[^"]+"/, '"eval_id": 7');
    await choose(page, [named("weather.evalset.json", broken)]);
    await page
      .getByText(/Expected a string/)
      .first()
      .waitFor();
    await page.getByRole("link", { name: "Correct it" }).click();
    const editor = page.getByRole("textbox", { name: "The text of weather.evalset.json" });
    await editor.waitFor();
    await page.getByRole("button", { name: /eval_cases\[0\]\.eval_id/ }).click();
    const focused = () => page.evaluate(() => document.activeElement.shadowRoot?.activeElement?.className ?? "");
    await becomes(async () => (await focused()).includes("cm-content"), true);
    await page.locator(".cm-lint-marker-error").waitFor();
    assert.deepEqual(await violations(page), []);
    await page.keyboard.press("Delete");
    await page.keyboard.type('"seven"');
    await page.getByText("can be read").waitFor();
    await page.locator(".cm-lint-marker-error").waitFor({ state: "detached" });
    await page.getByRole("link", { name: "← All files" }).click();
    await page.getByText(/Evalset · \d+ cases/).waitFor();
    await site.done(page);
  });

  test("becomes one of another kind while it is typed, and the cursor stays", async () => {
    const page = await site.open();
    await choose(page, [named("mine.json", "{}")]);
    await page.getByRole("link", { name: "mine.json" }).click();
    await page.getByText("Not recognised").waitFor();
    await page.locator(".cm-content").click();
    await page.keyboard.press("Control+a");
    await page.keyboard.type('{"criteria": {"response_match_score": 0.5}}');
    await page.getByText("Eval config").waitFor();
    // What the kind brings with it, such as its schema, is loaded.
    await page.waitForLoadState("networkidle");
    await page.keyboard.press("Enter");
    await becomes(async () => /\}\}\s+$/.test(await page.locator(".cm-content").innerText()), true);
    assert.equal(await page.evaluate(() => document.activeElement.shadowRoot !== null), true);
    await site.done(page);
  });

  test("what cannot be read is said, and stays to be corrected", async () => {
    const page = await site.open();
    await choose(page, [named("notes.json", "not JSON at all"), named("weather.evalset.json", '{"eval_set_id": "w"')]);
    await page.getByText(/cannot be read; see below/).waitFor();
    await page.getByRole("link", { name: "notes.json" }).waitFor();
    await page.getByRole("link", { name: "weather.evalset.json" }).click();
    await page.getByText("cannot be read", { exact: true }).waitFor();
    const editor = page.getByRole("textbox", { name: "The text of weather.evalset.json" });
    assert.match(await editor.innerText(), /eval_set_id/);
    await site.done(page);
  });

  test("edits that no file has yet are warned of before the page is left", async () => {
    const page = await site.open();
    await page.getByRole("button", { name: "Open files of Weather" }).click();
    await page.getByRole("link", { name: "weather.evalset.json" }).click();
    const asked = [];
    page.on("dialog", (dialog) => {
      asked.push(dialog.type());
      void dialog.accept();
    });
    await page.locator(".cm-content").click();
    await areKept(page, "files", "settings");
    await page.reload();
    assert.deepEqual(asked, []);
    await page.locator(".cm-content").click();
    await page.keyboard.press("Control+Home");
    await page.keyboard.type(" ");
    await becomes(() => isWarned(page), true);
    await page.reload();
    assert.deepEqual(asked, ["beforeunload"]);
    await page.locator(".cm-content").click();
    await page.keyboard.press("Control+Home");
    await page.keyboard.type(" ");
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Save as a file" }).click(),
    ]);
    assert.equal(download.suggestedFilename(), "weather.evalset.json");
    assert.match(readFileSync(await download.path(), "utf8"), /^ +\{/);
    await becomes(() => isWarned(page), false);
    await page.reload();
    assert.deepEqual(asked, ["beforeunload"]);
    await site.done(page);
  });

  test("edits are there again after a reload", async () => {
    const page = await site.open();
    page.on("dialog", (dialog) => void dialog.accept());
    await page.getByRole("button", { name: "Open files of Weather" }).click();
    await page.getByRole("link", { name: "weather.evalset.json" }).click();
    await page.locator(".cm-content").click();
    await page.keyboard.press("Control+Home");
    await page.keyboard.type("   ");
    const startOf = ({ bytes }) => new TextDecoder().decode(bytes).slice(0, 4);
    await becomes(async () => (await keptRecords(page)).files?.map(startOf).includes("   {"), true);
    await page.reload();
    await page.locator(".cm-content").waitFor();
    assert.match(await page.locator(".cm-content").innerText(), /^ {3}\{/);
    await site.done(page);
  });

  test("hostile content is text", async () => {
    const page = await site.open();
    const hostile = '<img src=x onerror="globalThis.hacked = true"><script>globalThis.hacked = true</script>';
    const turn = { user_content: { parts: [{ text: hostile }] }, final_response: { parts: [{ text: hostile }] } };
    const set = (id) => JSON.stringify({ eval_set_id: id, eval_cases: [{ eval_id: hostile, conversation: [turn] }] });
    await choose(page, [
      named(`${hostile.replaceAll("/", "")}.evalset.json`, set(hostile)),
      named(`${hostile.replaceAll("/", "")}.actual.json`, set(hostile)),
      named("bad.json", JSON.stringify({ [hostile]: hostile, eval_cases: [{ eval_id: { [hostile]: 1 } }] })),
    ]);
    await page.getByText(/3 files were added/).waitFor();
    await page.getByRole("button", { name: "Remove bad.json" }).click();
    await page.getByRole("button", { name: "Score 1 case" }).click();
    await page.waitForURL("**/#/results");
    await page.waitForTimeout(300);
    assert.equal(await page.evaluate(() => globalThis.hacked), undefined);
    await site.done(page);
  });

  test("nothing is wider than a small screen, in both themes", async () => {
    for (const theme of ["light", "dark"]) {
      const page = await site.open({ theme, width: 360 });
      await page.getByRole("button", { name: "Open files of Bike workshop" }).click();
      await page.getByRole("button", { name: "Score 3 cases" }).waitFor();
      assert.deepEqual(await violations(page), []);
      const overflow = () => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok((await overflow()) <= 0);
      await page.getByRole("link", { name: "bike-workshop.evalset.json" }).click();
      await page.getByRole("textbox", { name: /^The text of/ }).waitFor();
      assert.deepEqual(await violations(page), []);
      assert.ok((await overflow()) <= 0);
      await site.done(page);
    }
  });
});
