// Walks with what real projects have: the folder of an agent as google-adk leaves it, large files, long conversations.

import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { root } from "../package/support/package.mjs";
import { startServer } from "../providers/server.mjs";
import { onDisk } from "./hostile.mjs";
import { caseOf, scored, turn } from "./scored.mjs";
import { areKept, becomes, playground, says, skip } from "./support.mjs";

const agent = join(root, "tests/www/history/ferry_desk");

/** The names in the rows of the list of cases. */
const caseNames = (page) => page.locator('.grid [role="rowheader"] a').allInnerTexts();

describe("the folder of an agent", { skip }, () => {
  const site = playground();

  test("opens with the newest results of its eval history, and the change since the earlier ones", async () => {
    const page = await site.open();
    await page.getByLabel("Choose a folder").setInputFiles(agent);
    await page.getByText("8 files were added.").waitFor();
    // Each evalset has its own results, also those in the old and new form of a test file.
    const pairs = page.locator(".match", { hasText: "What is expected" });
    await becomes(() => pairs.count(), 3);
    for (const [evalSet, results] of [
      ["timetable.evalset.json", /ferry_desk_timetable_/],
      ["polite.test.json", /ferry_desk_5c1e1a3e-/],
      ["old.test.json", /ferry_desk_old\.test\.json_/],
    ]) {
      const pair = pairs.filter({ has: page.getByRole("link", { name: evalSet, exact: true }) });
      await says(pair.locator(".match-side").nth(1), results);
    }
    await page.getByRole("button", { name: "Open the results of 4 files" }).click();
    await page.waitForURL("**/#/results");
    await says(page.locator(".tally"), /Cases 3 Passed 3 Failed 0/);
    await page.getByText("These are the newest results in the files; 1 older run is under Compare.").waitFor();
    await becomes(async () => (await caseNames(page)).sort(), ["from_kiel", "from_kiel_of_old", "politely_from_kiel"]);
    await page.getByRole("navigation", { name: "Steps" }).getByRole("link", { name: "Compare" }).click();
    await page.getByRole("link", { name: "All runs side by side" }).click();
    await page.getByRole("table", { name: "Cases and runs" }).waitFor();
    await says(page.getByRole("row", { name: /^from_kiel\b(?!_)/ }), /Failed.*Passed/);
    await site.done(page);
  });

  test("is scored again with its own config, with the results that google-adk had", async () => {
    const page = await site.open();
    await page.getByLabel("Choose a folder").setInputFiles(agent);
    await page.getByText("8 files were added.").waitFor();
    // Of the history of an evalset one run at a time is what it did, whichever is chosen.
    const [older, newer] = readdirSync(join(agent, ".adk/eval_history"))
      .filter((name) => name.includes("_timetable_"))
      .sort();
    await page.getByLabel(`What ${older} is for`).selectOption("Agent run");
    await becomes(() => page.locator(".match").count(), 4);
    await page.getByLabel(`What ${older} is for`).selectOption("Not used");
    const field = page.getByLabel("Agent run for timetable.evalset.json");
    for (const [chosen, other] of [
      [older, newer],
      [newer, older],
    ]) {
      await field.selectOption({ label: await field.locator("option", { hasText: chosen }).innerText() });
      await page
        .getByLabel(`What ${other} is for`)
        .locator(":checked", { hasText: "Not used" })
        .waitFor({ state: "attached" });
      assert.equal(await page.locator(".match").count(), 3);
    }
    await page.getByRole("button", { name: "Score again" }).click();
    await page.waitForURL("**/#/results");
    await says(page.locator(".facts"), /Config \S*ferry_desk\/test_config\.json/);
    await says(page.locator(".tally"), /Passed 3 Failed 0 Not evaluated 0/);
    await site.done(page);
  });
});

describe("large files and long conversations", { skip }, () => {
  const site = playground();

  test("of 34 MB are scored, kept and there again", async () => {
    const words = "timetable ferry harbour ".repeat(40);
    const set = JSON.stringify({
      eval_set_id: "large",
      eval_cases: Array.from({ length: 17_000 }, (_, at) => ({
        eval_id: `case_${at}`,
        conversation: [turn(`Question ${at}`, words, [{ name: "look", args: { text: words.slice(0, 700), at } }])],
      })),
    });
    assert.ok(set.length > 30e6 && set.length < 38e6, `${set.length} bytes`);
    const page = await site.open();
    await page
      .getByLabel("Choose files")
      .setInputFiles([
        onDisk("large.evalset.json", set),
        onDisk("large.actual.json", set),
        onDisk("test_config.json", '{"criteria":{"tool_trajectory_avg_score":1}}'),
      ]);
    await page.getByRole("button", { name: "Score 17,000 cases" }).click();
    await page.waitForURL("**/#/results");
    await says(page.locator(".tally"), /Cases 17,000 Passed 17,000/);
    await areKept(page, "files", "runs", "shown");
    await page.reload();
    await says(page.locator(".tally"), /Cases 17,000 Passed 17,000/);
    await site.done(page);
  });

  test("of sixty turns show those that failed, one key apart", async () => {
    const conversation = (cities) =>
      Array.from({ length: 60 }, (_, at) =>
        turn(`Question ${at + 1}`, "Sunny", [{ name: "look", args: { city: cities[at + 1] ?? "Oslo" } }]),
      );
    const results = await scored(
      { long: [conversation({}), conversation({ 23: "Rome", 58: "Bari" })] },
      { tool_trajectory_avg_score: 1 },
    );
    const page = await caseOf(site, results, "long");
    const focused = () => page.evaluate(() => document.activeElement?.closest(".turn")?.id);
    await page.keyboard.press("n");
    await becomes(focused, "turn-23");
    await says(page.locator("#turn-23"), /Oslo.*Rome/);
    await page.keyboard.press("n");
    await becomes(focused, "turn-58");
    await says(page.locator("#turn-58"), /Oslo.*Bari/);
    await page.getByRole("button", { name: /^Show more of/ }).click();
    await becomes(() => page.locator(".turn").count(), 60);
    await becomes(() => page.locator(".turn:not(.folded)").count(), 2);
    await site.done(page);
  });
});

describe("the counters of a run", { skip }, () => {
  const site = playground();

  test("add up to the calls that were estimated", async (t) => {
    const reply = ({ prompt }) =>
      prompt.includes("is_the_agent_response_valid")
        ? '{"is_the_agent_response_valid": "valid"}'
        : '{"explanation": "Fine.", "score": 1}';
    const server = await startServer({ reply });
    t.after(() => server.close());
    const page = await site.open();
    const figure = async (name) => Number(await page.locator("dt", { hasText: name }).locator("+ dd").innerText());
    const all = async () => {
      const names = ["Calls made", "Skipped (vote decided)", "Replies reused", "Samples not asked"];
      const counts = await Promise.all(names.map(figure));
      return counts.reduce((sum, one) => sum + one, 0);
    };
    // The recording first, which has one that cannot be read, then a server, then what was kept of it.
    await page.getByRole("button", { name: "Museum guide: Score it" }).click();
    await page.waitForURL("**/#/results");
    await page.getByRole("link", { name: "Run", exact: true }).click();
    await becomes(all, 66);
    await page.getByRole("link", { name: "Criteria", exact: true }).click();
    await page.getByLabel("Provider").selectOption({ label: "OpenAI, or a compatible server" });
    await page.getByLabel("Address").fill(`${server.url}/v1`);
    await page.getByLabel("Model", { exact: true }).fill("local");
    await page.getByLabel("Key", { exact: true }).fill("a-secret-key");
    await page.getByText(`Questions go to ${server.url}`).waitFor();
    for (const from of ["Calls made", "Replies reused"]) {
      await page.getByRole("link", { name: "Run", exact: true }).click();
      await page.getByText("48–66").waitFor();
      await page.getByRole("button", { name: "Score again" }).click();
      await page.waitForURL("**/#/results");
      await page.getByRole("link", { name: "Run", exact: true }).click();
      await becomes(all, 66);
      await says(page.locator("dt", { hasText: from }).locator("+ dd"), /^(4[89]|5\d|6[0-6])$/);
      assert.equal(await figure("Calls made"), from === "Calls made" ? server.requests.length : 0);
    }
    await site.done(page);
  });
});
