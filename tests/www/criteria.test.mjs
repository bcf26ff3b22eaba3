// Which metrics, which judge, and what that will ask.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { becomes, example, playground, says, skip, violations } from "./support.mjs";

const criterion = (page, name) =>
  page.locator("li.criterion", { has: page.getByRole("checkbox", { name, exact: true }) });
const json = (page) => page.getByRole("textbox", { name: "The eval config" });

describe("criteria", { skip }, () => {
  const site = playground();

  test("form and JSON are one config, in which comments and unknown keys stay", async () => {
    const page = await site.open({ at: "#/criteria/json" });
    await json(page).click();
    await page.keyboard.press("Control+A");
    await page.keyboard.insertText(`{
  // what the team agreed on
  "criteria": {
    "response_match_score": 0.7, // words
    "my_own_metric": { "threshold": 1 }
  },
  "live_model_config": { "timeout_seconds": 9 }
}`);
    await page.getByRole("link", { name: "Form" }).click();
    const match = criterion(page, "response_match_score");
    await match.getByLabel("Threshold, response_match_score").fill("0.55");
    await page.getByRole("checkbox", { name: "tool_trajectory_avg_score", exact: true }).check();
    const calls = criterion(page, "tool_trajectory_avg_score");
    await calls.locator("summary").click();
    await calls.getByLabel("Match type").selectOption("IN_ORDER");
    await calls.getByLabel("Ignore args").check();
    assert.deepEqual(await violations(page), []);
    await page.getByRole("link", { name: "JSON", exact: true }).click();
    const text = await json(page).innerText();
    for (const part of ["// what the team agreed on", "// words", '"my_own_metric"', '"timeout_seconds": 9', "0.55"]) {
      assert.ok(text.includes(part), `${part} in ${text}`);
    }
    assert.match(text, /"match_type": "IN_ORDER"/);
    assert.match(text, /"ignore_args": true/);
    await site.done(page);
  });

  test("the engine's mistakes stand at their places, and completion knows the keys", async () => {
    const page = await site.open({ at: "#/criteria/json" });
    await json(page).click();
    await page.keyboard.press("Control+A");
    await page.keyboard.insertText('{ "criteria": { "response_match_score": { "treshold": 1 } } }');
    await page
      .getByText(/has no setting `treshold`/)
      .first()
      .waitFor();
    await page
      .getByText(/Did you mean `threshold`\?/)
      .first()
      .waitFor();
    await page.keyboard.press("Control+A");
    await page.keyboard.insertText('{ "criteria": { "tool_trajectory_avg_score": {  } } }');
    for (let step = 0; step < 7; step += 1) await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("Control+Space");
    await page.getByRole("option", { name: /match_type/ }).waitFor();
    await page.keyboard.press("Escape");
    await site.done(page);
  });

  test("all mistakes are listed, and lead to their places", async () => {
    const page = await site.open({ at: "#/criteria/json" });
    await json(page).click();
    await page.keyboard.press("Control+A");
    const settings = '{ "threshold": "high", "treshold": 1, "other": 2 }';
    await page.keyboard.insertText(`{ "criteria": { "response_match_score": ${settings} } }`);
    const problems = page.getByRole("list", { name: "Problems" });
    await becomes(async () => (await problems.getByRole("listitem").count()) >= 3, true);
    await says(problems, /has no setting `treshold`.* `other` is not known here/);
    assert.equal((await problems.innerText()).match(/treshold` (is not|\?)/g), null, "the same is not said twice");
    await problems.getByRole("listitem").filter({ hasText: "`other`" }).getByRole("button").click();
    await page.keyboard.press("Delete");
    await becomes(
      () => json(page).innerText(),
      `{ "criteria": { "response_match_score": ${settings.replace('"other', "other")} } }`,
    );
    await site.done(page);
  });

  test("completion leaves valid JSON, in one spelling", async () => {
    const page = await site.open({ at: "#/criteria/json" });
    const options = () => page.locator(".cm-tooltip-autocomplete li").allInnerTexts();
    const complete = async (text, back, typed) => {
      await json(page).click();
      await page.keyboard.press("Control+A");
      await page.keyboard.insertText(text);
      for (let step = 0; step < back; step += 1) await page.keyboard.press("ArrowLeft");
      await page.keyboard.type(typed);
      await page.locator(".cm-tooltip-autocomplete li").first().waitFor();
      const found = await options();
      // A key pressed just after the list appears is taken for one that was meant for the text (`interactionDelay`, 75 ms).
      await page.waitForTimeout(150);
      await page.keyboard.press("Enter");
      await page.locator(".cm-tooltip-autocomplete").waitFor({ state: "detached" });
      return found;
    };
    await complete('{ "criteria": {  "response_match_score": 1 } }', 30, '"hal');
    await becomes(
      () => json(page).innerText(),
      '{ "criteria": { "hallucinations_v1": 0.8, "response_match_score": 1 } }',
    );
    // The value is selected.
    await page.keyboard.type("0.5");
    assert.deepEqual(JSON.parse(await json(page).innerText()).criteria, {
      hallucinations_v1: 0.5,
      response_match_score: 1,
    });
    const snake = await complete('{ "criteria": { "hallucinations_v1": { "threshold": 1  } } }', 5, ', "j');
    assert.deepEqual(snake, ['"judge_model_options"']);
    JSON.parse(await json(page).innerText());
    const camel = await complete('{ "criteria": { "hallucinations_v1": { "judgeModelOptions": {}  } } }', 5, ', "e');
    assert.ok(camel.includes('"evaluateIntermediateNlResponses"'), camel.join());
    assert.ok(
      camel.every((label) => !label.includes("_")),
      camel.join(),
    );
    JSON.parse(await json(page).innerText());
    // What Chromium itself types over a coloured word would keep its colour, which the policy does not allow.
    page.mistakes = page.mistakes.filter((text) => !text.startsWith("Applying inline style"));
    await site.done(page);
  });

  test("a threshold that no score reaches, or every score, is told of", async () => {
    const page = await site.open({ at: "#/criteria" });
    const field = page.getByLabel("Threshold, response_match_score");
    await field.fill("7");
    await criterion(page, "response_match_score")
      .getByText("Scores are 0 to 1: none reaches this threshold.")
      .waitFor();
    assert.equal(await field.getAttribute("aria-invalid"), "true");
    assert.deepEqual(await violations(page), []);
    await field.fill("-1");
    await page.getByText("Scores are 0 to 1: all reach this threshold.").waitFor();
    await field.fill("0.7");
    await becomes(() => page.getByText(/^Scores are 0 to 1/).count(), 0);
    await site.done(page);
  });

  test("settings of rubrics and arguments can be given in forms", async () => {
    const page = await site.open({ at: "#/criteria" });
    const name = "rubric_based_final_response_quality_v1";
    await page.getByRole("checkbox", { name, exact: true }).check();
    const rubrics = criterion(page, name);
    await rubrics.locator("summary").click();
    await rubrics.getByRole("button", { name: "Add a rubric" }).click();
    await rubrics.getByLabel("Property of rubric 1").fill("The answer names the price.");
    await rubrics.getByLabel("Num samples").fill("3");
    await page.getByRole("checkbox", { name: "tool_parameter_match", exact: true }).check();
    const match = criterion(page, "tool_parameter_match");
    await match.locator("summary").click();
    await match.getByLabel("Name").fill("city");
    await match.getByRole("button", { name: "Add" }).click();
    await match.getByLabel("city", { exact: true }).selectOption("casefold_exact");
    await page.getByRole("link", { name: "JSON", exact: true }).click();
    const config = JSON.parse(await json(page).innerText());
    assert.deepEqual(config.criteria[name].rubrics, [
      { rubric_id: "rubric_1", rubric_content: { text_property: "The answer names the price." } },
    ]);
    assert.equal(config.criteria[name].judge_model_options.num_samples, 3);
    assert.deepEqual(config.criteria.tool_parameter_match.per_arg_strategies, { city: "casefold_exact" });
    await site.done(page);
  });

  test("keys stay in memory unless they are to be remembered", async () => {
    const page = await site.open({ at: "#/criteria" });
    await page.getByLabel("Provider").selectOption({ label: "Gemini" });
    await page.getByLabel("Key", { exact: true }).fill("secret-key");
    const stored = () => page.evaluate(() => JSON.stringify({ ...localStorage }));
    assert.doesNotMatch(await stored(), /secret-key/);
    await page.reload();
    await page.getByLabel("Provider").selectOption({ label: "Gemini" });
    await becomes(() => page.getByLabel("Key", { exact: true }).inputValue(), "");
    await page.getByLabel("Key", { exact: true }).fill("secret-key");
    await page.getByLabel("Remember in this browser").check();
    await becomes(async () => (await stored()).includes("secret-key"), true);
    await page.reload();
    await becomes(() => page.getByLabel("Key", { exact: true }).inputValue(), "secret-key");
    assert.equal(await page.getByLabel("Key", { exact: true }).getAttribute("type"), "password");
    await page.getByLabel("Remember in this browser").uncheck();
    await becomes(async () => (await stored()).includes("secret-key"), false);
    await site.done(page);
  });

  test("it is said where questions go", async () => {
    const page = await site.open();
    await page.getByRole("button", { name: "Open files of Museum guide" }).click();
    await page.getByRole("link", { name: "Choose criteria" }).click();
    await page.getByText("Nothing leaves this device.").waitFor();
    await page.getByLabel("Provider").selectOption({ label: "OpenAI, or a compatible server" });
    await page.getByText("The key, or the address of a server without keys, is missing.").first().waitFor();
    await page.getByLabel("Address").fill("http://127.0.0.1:8123/v1");
    await page.getByLabel("Model", { exact: true }).fill("local");
    await page.getByText("Questions go to http://127.0.0.1:8123, and nowhere else.").waitFor();
    await page.getByLabel("Address").fill("nonsense");
    await page.getByText(/the address has to begin with https/i).waitFor();
    assert.deepEqual(await violations(page), []);
    await site.done(page);
  });

  test("what a run will ask is counted before, with tokens and cost", async () => {
    const page = await site.open({ width: 1280 });
    await page.getByRole("button", { name: "Open files of Museum guide" }).click();
    await page.getByRole("link", { name: "Choose criteria" }).click();
    // Six turns: 3 to 5 and 2 to 3 samples that vote, 3 that are averaged. The recording has 54 calls of it.
    await page.getByText(/48–66 calls/).waitFor();
    const table = page.getByRole("table");
    for (const row of ["final_response_match_v2 18–30", "safety_v1 12–18", "response_evaluation_score 18"]) {
      await table.getByRole("row", { name: row }).waitFor();
    }
    await page.getByLabel("Provider").selectOption({ label: "OpenAI, or a compatible server" });
    await page.getByLabel("Address").fill("http://127.0.0.1:8123/v1");
    await page.getByLabel("Model", { exact: true }).fill("local");
    await page.getByText("Prices, to estimate what a run costs").click();
    await page.getByText("local, in USD per million tokens").waitFor();
    await page.getByLabel("Input").fill("1");
    await page.getByLabel("Output").fill("10");
    await page.getByText(/, at about USD 0\.\d+–0\.\d+/).waitFor();
    await page.getByText("Run settings").click();
    await page.getByLabel(/in USD$/).fill("5");
    await page.getByLabel("Stop asking when a verdict is settled").uncheck();
    await page.getByText(/^66 calls/).waitFor();
    await site.done(page);
  });

  test("a config that comes with files is the one that is shown and changed", async () => {
    const page = await site.open();
    await page.getByLabel("Choose files").setInputFiles([example("shop-assistant", "test_config.json")]);
    await page.getByText("test_config.json was added.").waitFor();
    await page.getByRole("link", { name: "Criteria", exact: true }).click();
    await page.getByRole("checkbox", { name: "tool_parameter_match", exact: true, checked: true }).waitFor();
    await site.done(page);
  });
});
