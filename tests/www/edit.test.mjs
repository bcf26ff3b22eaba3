// Evalsets that are edited in the page.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { importEntry } from "../package/support/package.mjs";
import { playground, skip, violations } from "./support.mjs";

const { readEvalSet } = await importEntry();

const BIG = `{
  "evalSetId": "numbers",
  "evalCases": [
    {
      "evalId": "big",
      "somethingElse": [1, 2],
      "conversation": [
        {
          "invocationId": "i1",
          "userContent": { "parts": [{ "text": "Book 12345678901234567890." }] },
          "finalResponse": { "parts": [{ "text": "Booked." }] },
          "intermediateData": { "toolUses": [{ "name": "book", "args": { "id": 12345678901234567890, "rate": 1.0 } }] }
        }
      ]
    }
  ]
}`;

describe("editing an evalset", { skip }, () => {
  const site = playground();

  async function scored(name) {
    const page = await site.open();
    await page.getByRole("button", { name: new RegExp(`${name}:?\\s*Score it`) }).click();
    await page.waitForURL("**/#/results");
    await page.getByRole("grid").waitFor();
    return page;
  }

  /** The evalset as it is exported now. */
  async function exported(page) {
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Export evalset" }).click(),
    ]);
    const text = readFileSync(await download.path(), "utf8");
    return { text, set: readEvalSet(text), name: download.suggestedFilename() };
  }

  test("from a case that failed: what the agent did is accepted, and the case passes", async () => {
    const page = await scored("Weather");
    await page.getByText("snow_depth").first().click();
    await page.getByRole("link", { name: "Edit the case" }).click();
    await page.getByRole("heading", { name: /Edit weather\.evalset\.json/ }).waitFor();
    await page.getByRole("button", { name: "Accept everything the agent did" }).click();
    await page.getByRole("button", { name: "Undo" }).and(page.locator(":enabled")).waitFor();
    assert.deepEqual(await violations(page), []);
    await page.getByRole("link", { name: "Score again" }).click();
    await page
      .getByRole("button", { name: /^Score/ })
      .first()
      .click();
    await page.waitForURL("**/#/results");
    const row = page.getByRole("row", { name: /snow_depth/ });
    await row.getByText("Passed").first().waitFor();
    await site.done(page);
  });

  test("references, calls, rubrics, turns and cases; undone and exported in ADK's schema", async () => {
    const page = await scored("Weather");
    await page.getByText("two_cities").first().click();
    await page.getByRole("link", { name: "Edit the case" }).click();
    const answer = page.getByLabel("Expected answer").first();
    await answer.fill("It is cold in both.");
    await page.getByRole("button", { name: "Add a rubric to the rubrics of the case" }).click();
    await page.getByLabel("Requirement").fill("Both cities are named.");
    await page.getByLabel("Id", { exact: true }).focus();
    await page.getByText("Expected tool calls and events as JSON").first().click();
    await page
      .getByLabel(/tool calls and events/)
      .first()
      .fill('{"tool_uses": [{"name": "get_weather", "args": {"city": "Rome"}}]}');
    // People hold a button for a moment, in which what they typed applies and the page may move.
    await page.getByRole("button", { name: "Add a turn" }).click({ delay: 500 });
    await page.getByRole("group", { name: "Turn 2", exact: true }).waitFor();
    await page.getByRole("button", { name: "Copy" }).click();
    await page.getByRole("link", { name: /two_cities_2/ }).waitFor();
    const { set, name, text } = await exported(page);
    assert.equal(name, "weather.evalset.json");
    assert.match(text, /"eval_set_id": "weather"/);
    const one = set.evalCases.find(({ evalId }) => evalId === "two_cities");
    assert.equal(one.conversation[0].finalResponse.parts[0].text, "It is cold in both.");
    assert.deepEqual(one.conversation[0].intermediateData.toolUses, [{ name: "get_weather", args: { city: "Rome" } }]);
    assert.equal(one.conversation.length, 2);
    assert.equal(one.rubrics[0].rubricContent.textProperty, "Both cities are named.");
    const copy = set.evalCases.find(({ evalId }) => evalId === "two_cities_2");
    assert.deepEqual(copy.conversation[0], one.conversation[0]);
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByRole("link", { name: /two_cities_2/ }).waitFor({ state: "detached" });
    assert.equal((await exported(page)).set.evalCases.length, set.evalCases.length - 1);
    await site.done(page);
  });

  test("what cannot be is not taken over, and says why; what was typed stays", async () => {
    const page = await scored("Weather");
    await page.getByText("two_cities").first().click();
    await page.getByRole("link", { name: "Edit the case" }).click();
    await page.getByText("Expected tool calls and events as JSON").first().click();
    const way = page.getByLabel(/tool calls and events/).first();
    await way.fill("{ no JSON");
    await page.getByLabel("Expected answer").first().focus();
    await page
      .getByRole("alert")
      .getByText(/not JSON/)
      .waitFor();
    assert.equal(await way.inputValue(), "{ no JSON");
    await page.getByLabel("Eval id").fill("snow_depth");
    await page.getByLabel("Expected answer").first().focus();
    await page
      .getByRole("alert")
      .getByText(/snow_depth/)
      .waitFor();
    assert.doesNotMatch((await exported(page)).text, /no JSON/);
    await site.done(page);
  });

  test("keeps what it does not know, and every digit", async () => {
    const page = await site.open();
    const chooser = page.waitForEvent("filechooser");
    await page.getByText("Choose files", { exact: true }).click();
    await (await chooser).setFiles({ name: "numbers.json", mimeType: "application/json", buffer: Buffer.from(BIG) });
    await page.getByText("numbers.json").first().waitFor();
    await page.goto(`${site.origin}/#/edit`);
    await page.getByLabel("Expected answer").fill("It is booked.");
    await page.getByLabel("Eval id").focus();
    await page.getByRole("button", { name: "Undo" }).and(page.locator(":enabled")).waitFor();
    const { text } = await exported(page);
    assert.match(text, /"id": 12345678901234567890/);
    assert.match(text, /"rate": 1\.0/);
    assert.match(text, /It is booked\./);
    await site.done(page);
  });
});
