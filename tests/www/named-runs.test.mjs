// What runs and evalsets are called, and what tells them apart.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { becomes, example, keptRecords, playground, says, skip } from "./support.mjs";
import { linkOf, scoredExample, showing } from "./scored.mjs";

const UUID = "b305bd06-38c5-4796-b9c7-d9c7454338b9";

const file = (name, content) => ({
  name,
  mimeType: "application/json",
  buffer: Buffer.from(typeof content === "string" ? content : JSON.stringify(content)),
});

describe("runs side by side", { skip }, () => {
  const site = playground();

  test("name the judge and the config of each", async () => {
    const result = await scoredExample("weather");
    const judgedBy = (model, creationTimestamp) => ({
      ...result,
      creationTimestamp,
      judges: [{ metricName: "final_response_match_v2", scoredBy: "judge", model, modelVersions: [] }],
    });
    const page = await showing(site, judgedBy("gemini-3-flash", 1_790_000_000));
    await page.evaluate((hash) => (location.hash = hash), linkOf(judgedBy("gpt-6-mini", 1_790_000_100)));
    await becomes(() => page.getByRole("combobox", { name: "Run", exact: true }).locator("option").count(), 2);
    await page.goto(`${site.origin}/#/files`);
    await page.getByRole("button", { name: "Weather: Score it" }).click();
    await page.waitForURL("**/#/results");
    await becomes(() => page.getByRole("combobox", { name: "Run", exact: true }).locator("option").count(), 3);
    await page.goto(`${site.origin}/#/runs`);
    const scores = page.locator(".estimates thead");
    await says(scores, /Run 1 .*Judge gemini-3-flash .*Run 2 .*Judge gpt-6-mini .*Run 3 .*Config weather\/test_config/);
    const matrix = page.getByRole("table", { name: "Cases and runs" });
    await says(matrix, /Run 1 gemini-3-flash Run 2 gpt-6-mini Run 3 .*weather\/test_c ?onfig/);
    await page.getByRole("link", { name: "two_cities" }).click();
    await says(page.locator("thead"), /Run 1 gemini-3-flash .*Run 2 gpt-6-mini /);
    // They are known of a run that is kept, too.
    await page.goto(`${site.origin}/#/runs`);
    await becomes(async () => {
      const { runs, shown } = await keptRecords(page);
      return runs?.length === 3 && runs[2].id === shown;
    }, true);
    await page.reload();
    await says(scores, /Judge gemini-3-flash .*Judge gpt-6-mini .*Config weather\/test_config/);
    await site.done(page);
  });
});

describe("an evalset", { skip }, () => {
  const site = playground();

  test("is called after its file where its id is a UUID", async () => {
    const page = await site.open();
    const own = (name) => ({ ...JSON.parse(readFileSync(example("weather", name), "utf8")), eval_set_id: UUID });
    await page
      .getByLabel("Choose files")
      .setInputFiles([
        file("lights.test.json", own("weather.evalset.json")),
        file("lights.actual.json", own("weather.actual.json")),
      ]);
    await page.getByRole("button", { name: "Score 5 cases" }).click();
    await page.waitForURL("**/#/results");
    await says(page.locator(".facts"), /Evalset lights\.test\.json/);
    assert.equal(await page.getByText(UUID).count(), 0);
    await site.done(page);
  });

  test("in an old format says so, and how many cases it has", async () => {
    const page = await site.open();
    const row = { query: "Hi", expected_tool_use: [], reference: "Hello" };
    await page.getByLabel("Choose files").setInputFiles([
      file("list.test.json", [row]),
      file("named.evalset.json", [
        { name: "one", data: [row, row] },
        { name: "two", data: [row] },
      ]),
    ]);
    await page.getByText("Evalset in ADK’s old format · 1 case, 1 turn").waitFor();
    await page.getByText("Evalset in ADK’s old format · 2 cases, 3 turns").waitFor();
    await site.done(page);
  });
});
