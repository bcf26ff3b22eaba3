// A case: everything that the results know of it, and hostile texts shown as texts.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { caseOf, evaluate, scored, scoredExample, showing, turn } from "./scored.mjs";
import { becomes, example, playground, says, skip, violations } from "./support.mjs";

/** What the judge of an example was asked. */
const recorded = (name) =>
  readFileSync(example(name, "judge.jsonl"), "utf8")
    .split("\n")
    .slice(1)
    .filter(Boolean)
    .map((line) => JSON.parse(line).request);

describe("a case", { skip }, () => {
  const site = playground();

  test("shows the conversation, each metric and the words that both responses have", async () => {
    const page = await caseOf(site, await scoredExample("weather"), "two_cities");
    await says(page.locator(".message.user"), /Where is it warmer tomorrow/);
    await says(page.locator(".message.expected"), /27 degrees/);
    await says(page.locator(".message.agent"), /81 degrees/);
    await page.getByRole("button", { name: "Shared words" }).click();
    const marked = await page.locator(".message.agent mark.shared").allInnerTexts();
    assert.ok(marked.includes("Lisbon") && !marked.includes("81"));
    assert.equal(await page.locator(".message.expected mark.shared").count(), marked.length);
    await says(page.locator(".legend"), /precision 0.857, recall 0.857/);
    await page.getByRole("button", { name: "Off" }).click();
    await becomes(() => page.locator(".message mark").count(), 0);
    const verdicts = page.getByRole("complementary", { name: "Verdicts" });
    await says(verdicts, /Failed tool_trajectory_avg_score 0.000 ≥ 1 .*response_match_score 0.857 ≥ 0.8/);
    await site.done(page);
  });

  test("says at the top why it did not pass, and folds the turns that did", async () => {
    const conversation = (odd) =>
      [1, 2, 3].map((day) =>
        turn(`Day ${day}?`, "Sunny", [{ name: "look", args: { city: day === 2 ? odd : "Oslo", day } }]),
      );
    const conversations = {
      trip: [conversation("Oslo"), conversation("Rome")],
      calm: [[turn("Hi", "Hello")], [turn("Hi", "Hello")]],
      late: [[turn("Hi", "Hello")], [turn("Hi", "Good evening")]],
    };
    const criteria = { tool_trajectory_avg_score: 1, response_match_score: 0.8 };
    const page = await caseOf(site, await scored(conversations, criteria), "trip");
    assert.match(await page.title(), /^trip – /);
    await says(
      page.getByRole("list", { name: "Why it did not pass" }),
      /tool_trajectory_avg_score needs 1, got 0.667, in turn 2 look: city is "Rome", expected "Oslo"/,
    );
    await becomes(() => page.locator(".turn.folded").count(), 2);
    await page.getByRole("button", { name: "Turn 3", exact: true }).click();
    await becomes(() => page.locator(".turn.folded").count(), 1);
    await page.keyboard.press("f");
    await page.getByRole("heading", { level: 1, name: "late" }).waitFor();
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keyboard shortcuts" }).getByRole("button", { name: "Close" }).click();
    await site.done(page);
  });

  test("shows both sides where the turns differ in number or the run failed, and why", async () => {
    const page = await site.open();
    const file = (name, value) => ({ name, mimeType: "application/json", buffer: Buffer.from(JSON.stringify(value)) });
    const day = (number) => turn(`Day ${number}?`, `Sunny ${number}`, [{ name: "look", args: { day: number } }]);
    const days = { evalId: "days", conversation: [day(1), day(2), day(3)] };
    const evalSet = { evalSetId: "made_here", evalCases: [days, { evalId: "broken", conversation: [day(7)] }] };
    const inference = (evalCaseId, rest) => ({ appName: "a", evalSetId: "made_here", evalCaseId, ...rest });
    const actual = [
      inference("days", { inferences: [day(1)], status: 1 }),
      inference("broken", { inferences: [], status: 2, errorMessage: "no tool" }),
    ];
    await page
      .locator("input[type=file]")
      .first()
      .setInputFiles([file("made.evalset.json", evalSet), file("made.inferences.json", actual)]);
    await page.getByRole("button", { name: "Score 2 cases" }).click();
    await page.waitForURL("**/#/results");
    await page.getByRole("link", { name: "days" }).click();
    const third = page.getByRole("region", { name: "Turn 3: expected only" });
    await says(
      third,
      /Day 3\? Expected response Sunny 3 Final response The agent’s run does not have this turn.*look.*3/,
    );
    await says(page.getByRole("region", { name: "Turn 1" }), /Expected response Sunny 1 Final response Sunny 1/);
    await says(page.locator(".case-head"), /The actual conversation has 1 turn, the expected one 3/);
    await page.keyboard.press("ArrowRight");
    await says(page.locator(".case-head"), /The run failed: no tool\./);
    await says(page.getByRole("region", { name: "Turn 1: expected only" }), /Day 7\?/);
    assert.deepEqual(await violations(page), []);
    await site.done(page);
  });

  test("shows integers that JavaScript rounds with every digit", async () => {
    const page = await site.open();
    const conversation = (id) => `{"eval_set_id":"large","eval_cases":[{"eval_id":"one","conversation":[{
      "user_content":{"parts":[{"text":"Pay"}]},"final_response":{"parts":[{"text":"Paid"}]},
      "intermediate_data":{"tool_uses":[{"name":"pay","args":{"id":${id},"of":["${id}",9007199254740993]}}]}}]}]}`;
    const file = (name, text) => ({ name, mimeType: "application/json", buffer: Buffer.from(text) });
    await page
      .locator("input[type=file]")
      .first()
      .setInputFiles([
        file("large.evalset.json", conversation("12345678901234567890")),
        file("large.actual.json", conversation("12345678901234567891")),
      ]);
    await page.getByRole("button", { name: "Score 1 case" }).click();
    await page.waitForURL("**/#/results");
    await page.getByRole("link", { name: "one", exact: true }).click();
    const calls = page.locator(".aligned");
    await says(calls, /"id": 12345678901234567890, "of": \["12345678901234567890", 9007199254740993\]/);
    await says(calls, /"id": 12345678901234567891/);
    // Numbers differ as numbers, and strings as strings.
    await says(calls, / id expected − 12345678901234567890 but got \+ 12345678901234567891 of\[0\] expected − "1/);
    await says(page.locator(".case-head"), /id is 12345678901234567891, expected 12345678901234567890/);
    await says(page.locator(".matrix"), /With arguments .*differ.*differ.*differ.* Names only .*match/);
    await site.done(page);
  });

  test("aligns expected and actual tool calls, with arguments that differ and their paths", async () => {
    const expected = [
      { name: "find", args: { city: "Oslo" } },
      { name: "book", args: { room: { beds: 2, floor: 1 } } },
      { name: "pay", args: {} },
    ];
    const actual = [
      { name: "book", args: { room: { beds: 3, floor: 1 } } },
      { name: "find", args: { city: "Oslo" } },
      { name: "thank", args: {} },
    ];
    const conversations = { hotel: [[turn("A room", "Booked", expected)], [turn("A room", "Booked", actual)]] };
    const criteria = { tool_trajectory_avg_score: { threshold: 1, match_type: "ANY_ORDER" } };
    const page = await caseOf(site, await scored(conversations, criteria), "hotel");
    const rows = (await page.locator(".aligned tbody tr").allInnerTexts()).map((row) => row.replace(/\s+/g, " "));
    const of = (word) => rows.filter((row) => row.includes(word));
    assert.ok(of("Missing").some((row) => row.includes("pay")));
    assert.ok(of("Extra").some((row) => row.includes("thank")));
    assert.ok(of("Match").some((row) => row.includes("find")));
    assert.ok(of("Changed").some((row) => row.includes("book")));
    assert.ok(
      rows.some((row) => /room\.beds.*2.*3/.test(row)),
      rows.join("\n"),
    );
    await site.done(page);
  });

  test("tells at a glance under which ways of matching the calls of a turn would match", async () => {
    const expected = [{ name: "a", args: { x: 1 } }, { name: "b" }];
    const actual = [{ name: "b" }, { name: "a", args: { x: 2 } }];
    const conversations = { swapped: [[turn("Go", "Done", expected)], [turn("Go", "Done", actual)]] };
    const page = await caseOf(site, await scored(conversations, { tool_trajectory_avg_score: 1 }), "swapped");
    const matrix = page.getByRole("table", { name: "How the calls match" });
    await matrix.waitFor();
    const cells = await matrix.getByRole("button").allInnerTexts();
    const words = cells.map((cell) => (/\bmatch$/.test(cell.trim()) ? "match" : "differ"));
    assert.deepEqual(words, ["differ", "differ", "differ", "differ", "differ", "match"]);
    await matrix.getByRole("button", { name: /Exact, names only/ }).click();
    await page.locator(".call-row.moved").first().waitFor();
    await says(page.locator(".call-row.moved").first(), /expected as call \d, made as call \d/);
    await matrix.getByRole("button", { name: /Any order, names only/ }).click();
    await becomes(() => page.locator(".call-row.match").count(), 2);
    await site.done(page);
  });

  test("labels sentences, and marks what the judge quotes where it stands in the context", async () => {
    const page = await caseOf(site, await scoredExample("ferry-press"), "incident");
    const response = page.locator(".message.agent");
    assert.equal(await response.locator("mark.contradictory").innerText(), "The ship was out of service for a week.");
    await becomes(() => response.locator("mark.supported").count(), 1);
    const quote = page.getByRole("button", { name: /Contradicted by .*The number of injured passengers/ });
    await quote.hover();
    const output = page.locator(".event.output");
    await says(output.locator("mark.excerpt-mark"), /^The number of injured passengers is three, not two\.$/);
    await page.mouse.move(0, 0);
    await page.locator("mark.excerpt-mark").waitFor({ state: "detached" });
    // Quoted with the quotation marks of JSON, and reached by keyboard.
    await page.getByRole("button", { name: /Supported by .*update_of_10_march/ }).focus();
    await says(output.locator("mark.excerpt-mark"), /^"update_of_10_march": "The number.*two\."$/);
    await quote.click();
    await becomes(() => quote.getAttribute("aria-pressed"), "true");
    // Under the pointer, what moves as the mark goes would be marked again.
    await page.mouse.move(0, 0);
    await page.keyboard.press("Escape");
    await page.locator("mark.excerpt-mark").waitFor({ state: "detached" });
    await site.done(page);
  });

  test("shows rubrics by turn with the votes, and why", async () => {
    const page = await caseOf(site, await scoredExample("cake-orders"), "birthday_inscription");
    const rubrics = page.locator(".rubrics").filter({ hasText: "rubric_based_final_response_quality_v1" });
    await says(rubrics.getByRole("status"), /right_price in turn 2: not met, 1 yes, 3 no .*29/);
    const first = rubrics.getByRole("row", { name: /right_price/ }).getByRole("button", { name: /^met/ });
    await first.click();
    await says(rubrics.getByRole("status"), /right_price in turn 1: met, 3 yes, 0 no/);
    // A rubric of one turn only.
    assert.equal(
      await rubrics
        .getByRole("row", { name: /repeats_inscription/ })
        .getByRole("button")
        .count(),
      1,
    );
    await site.done(page);
  });

  test("shows each vote with the judge's exact question and reply", async () => {
    const page = await site.open();
    await page.getByRole("button", { name: "Museum guide: Score it" }).click();
    await page.getByRole("rowheader").filter({ hasText: "audio_guide" }).getByRole("link").click();
    const metric = page.locator("article.metric").filter({ hasText: "final_response_match_v2" });
    await says(metric, /5 samples: 2 yes, 2 no, 1 unreadable; a tie counts as no/);
    const votes = metric.locator("details.vote");
    await becomes(() => votes.count(), 5);
    await votes.nth(2).locator("summary").click();
    const exchange = votes.nth(2).locator(".exchange");
    await exchange.getByText("You compare an agent's answer").waitFor();
    const asked = recorded("museum-guide").find(
      ({ metricName, sampleIndex, prompt }) =>
        metricName === "final_response_match_v2" &&
        sampleIndex === 2 &&
        prompt.includes("Which languages does the audio guide speak?"),
    );
    assert.equal(await exchange.locator(".text").last().textContent(), asked.prompt);
    await site.done(page);
  });

  test("shows the question about the end of a simulated conversation where its vote stands for the last turn's", async () => {
    const page = await site.open();
    await page.getByRole("button", { name: "Bike workshop: Score it" }).click();
    await page.getByRole("rowheader").filter({ hasText: "child_seat" }).getByRole("link").click();
    const metrics = page.locator("article.metric").filter({ hasText: "per_turn_user_simulator_quality_v1" });
    const prompts = [];
    for (const at of [1, 2]) {
      const vote = metrics.nth(at).locator("details.vote").first();
      await vote.locator("summary").click();
      await vote.getByText("The material stands in blocks").waitFor();
      await vote.getByRole("button", { name: /Show all/ }).click();
      prompts.push(await vote.locator(".exchange .text").last().textContent());
    }
    const asked = recorded("bike-workshop").filter(({ metricName }) =>
      metricName.startsWith("per_turn_user_simulator"),
    );
    const [ofSecond, ofEnd] = prompts.map((prompt) => asked.find((one) => one.prompt === prompt));
    assert.equal(ofSecond.invocationIndex, 1);
    assert.ok(prompts[1].includes("</finished>"));
    assert.ok(ofEnd.invocationIndex >= 2);
    await site.done(page);
  });

  test("says why a metric was not evaluated, and why a case could not be scored", async () => {
    const evalSet = (evalCases) => ({ evalSetId: "made_here", evalCases });
    const result = await evaluate({
      evalSet: evalSet([
        { evalId: "there", conversation: [turn("Hi", "Hello")] },
        { evalId: "missing", conversation: [turn("Hi", "Hello")] },
      ]),
      actual: evalSet([{ evalId: "there", conversation: [turn("Hi", "Hello")] }]),
      criteria: { tool_parameter_match: 1, response_match_score: 0.5 },
    });
    const page = await caseOf(site, result, "there");
    await says(page.locator("article.metric").first(), /no score.*the turn expects no tool call/);
    await page.getByRole("link", { name: "Next", exact: true }).click();
    await page.getByRole("heading", { level: 1, name: "missing" }).waitFor();
    await says(page.locator(".case-head .notice"), /\w+/);
    await site.done(page);
  });

  test("leads to its neighbours by key, in the order and choice of the results", async () => {
    const page = await showing(site, await scoredExample("museum-guide"));
    await page.getByRole("radio", { name: /^Failed/ }).check();
    await page.getByRole("link", { name: "student_ticket" }).click();
    await page.getByRole("heading", { level: 1, name: "student_ticket" }).waitFor();
    await page.keyboard.press("ArrowRight");
    await page.getByRole("heading", { level: 1, name: "audio_guide" }).waitFor();
    await page.keyboard.press("ArrowLeft");
    await page.getByRole("heading", { level: 1, name: "student_ticket" }).waitFor();
    await page.keyboard.press("ArrowLeft");
    await says(page.getByRole("navigation", { name: "Cases" }), /1 of 4/);
    await site.done(page);
  });

  test("takes its keys from the moment it shows", async () => {
    const page = await showing(site, await scoredExample("museum-guide"));
    await page.getByRole("radio", { name: /^Failed/ }).check();
    await page.evaluate(() => {
      const observer = new MutationObserver(() => {
        if (document.querySelector("h1")?.textContent !== "student_ticket") return;
        observer.disconnect();
        document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
      });
      observer.observe(document.body, { childList: true, subtree: true, characterData: true });
    });
    await page.getByRole("link", { name: "student_ticket" }).click();
    await page.getByRole("heading", { level: 1, name: "audio_guide" }).waitFor();
    await site.done(page);
  });

  test("tells calls, tokens and seconds by turn", async () => {
    const files = ["travel-concierge.evalset.json", "travel-concierge.evalset_result.json"];
    const page = await caseOf(site, await scoredExample("travel-concierge", files), "train_to_oslo");
    const usage = page.locator("table.usage");
    await says(usage.getByRole("row", { name: /Turn 1/ }), /3 3 2,761 95 2,856 6\.204/);
    await page.getByRole("button", { name: /^Turn 1/, expanded: false }).click();
    await says(page.locator(".event-usage").first(), /gemini-3\.5-flash-lite, 820 tokens in, 17 out/);
    await site.done(page);
  });

  test("has no 0 for calls of models that nothing reported", async () => {
    const spoken = turn("Hi?", "Yo.");
    const silent = { ...spoken, intermediateData: { invocationEvents: [{ author: "agent" }] } };
    const results = await scored({ greeting: [[spoken], [silent]] }, { response_match_score: 0.8 });
    const page = await showing(site, results);
    await says(page.getByRole("columnheader", { name: "response_match_score" }), /response_match_score/);
    assert.equal(await page.getByRole("columnheader", { name: "inference_call_count_v1" }).count(), 0);
    await page.getByRole("rowheader").filter({ hasText: "greeting" }).getByRole("link").click();
    const usage = page.locator("table.usage");
    await says(usage.getByRole("row", { name: /Turn 1/ }), /Turn 1 0$/);
    assert.equal(await usage.getByRole("columnheader", { name: "Model calls" }).count(), 0);
    await site.done(page);
  });

  test("shows hostile texts as what they are", async () => {
    const hostile =
      '<img src=x onerror="globalThis.hit=1"><a href="javascript:hit=1">x</a> \u202Eevil\u202C \u0000 \u200B';
    const args = (value) =>
      JSON.parse(`{"__proto__": {"polluted": ${value}}, "constructor": 1, "\\u202Etxt": ${value}}`);
    const call = (value) => [{ name: "<b>tool</b>", args: args(value) }];
    const conversations = {
      "<img src=x onerror=hit=1>": [
        [turn(hostile, hostile, call(true))],
        [turn(hostile, `${hostile} more`, call(false))],
      ],
      ordinary: [[turn("Hi", "Hello")], [turn("Hi", "Hello")]],
    };
    const results = await scored(conversations, { tool_trajectory_avg_score: 1, response_match_score: 0.9 });
    const page = await caseOf(site, results, "<img src=x onerror=hit=1>");
    await becomes(() => page.locator("main img, main a[href^='javascript']").count(), 0);
    assert.equal(await page.evaluate(() => globalThis.hit), undefined);
    await says(page.locator(".message.agent"), /<img src=x.*javascript:hit=1.*U\+202E\s?evil/);
    const all = await page.locator("main").evaluate((main) => main.textContent);
    assert.doesNotMatch(all, /[\u202A-\u202E\u0000\u200B]/);
    assert.match(all, /__proto__\.polluted/);
    assert.equal(await page.evaluate(() => ({}).polluted), undefined);
    await site.done(page);
  });

  test("folds enormous texts, and shows all of them when asked", async () => {
    const huge = "lorem ipsum dolor sit amet ".repeat(20_000);
    const solid = "x".repeat(200_000);
    const conversations = {
      huge: [
        [turn("Say much", huge, [{ name: "say", args: { solid } }])],
        [turn("Say much", `${huge}!`, [{ name: "say", args: { solid: `${solid}y` } }])],
      ],
    };
    const results = await scored(conversations, { response_match_score: 0.5, tool_trajectory_avg_score: 1 });
    const page = await caseOf(site, results, "huge");
    const shown = async () => (await page.locator(".message.agent .text").innerText()).length;
    assert.ok((await shown()) < 3000);
    await page.getByRole("button", { name: "Show all 540,001 characters" }).click();
    const length = await page.locator(".message.agent .text").evaluate((element) => element.textContent.length);
    assert.ok(length > huge.length, String(length));
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(overflow <= 0, `${overflow} px too wide`);
    await site.done(page);
  });

  test("says that a case cannot be shown where results from elsewhere are damaged", async () => {
    const results = await scoredExample("museum-guide");
    const [first] = results.evalCaseResults;
    first.evalMetricResultPerInvocation[0].evalMetricResults[0].explanation = { tokens: 5, sentences: "none" };
    const page = await showing(site, results);
    await page.getByRole("link", { name: first.evalId }).click();
    await page.getByText("This case cannot be shown").waitFor();
    await page.getByRole("link", { name: "Next", exact: true }).click();
    await page.locator(".turn").first().waitFor();
    await page.context().close();
  });

  test("has nothing that axe finds wrong, in both themes, from 360 px up", async () => {
    for (const [name, of] of [
      ["ferry-press", "incident"],
      ["cake-orders", "birthday_inscription"],
      ["weather", "two_cities"],
      ["bike-workshop", "child_seat"],
    ]) {
      const results = await scoredExample(name);
      for (const theme of ["light", "dark"]) {
        for (const width of [360, 1280]) {
          const page = await caseOf(site, results, of, { theme, width });
          const vote = page.locator("details.vote summary");
          if ((await vote.count()) > 0) await vote.first().click();
          const quote = page.locator(".excerpt");
          if ((await quote.count()) > 0) await quote.first().click();
          assert.deepEqual(await violations(page), [], `${of}, ${theme}, ${width} px`);
          const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
          assert.ok(overflow <= 0, `${of} at ${width} px is ${overflow} px too wide`);
          await site.done(page);
        }
      }
    }
  });

  test("shows rubrics of other metrics as such, whatever they are called", async () => {
    const results = await scored({ calm: [[turn("Hi", "Hello")], [turn("Hi", "Hello")]] }, { response_match_score: 1 });
    const rubricScores = [{ rubricId: "explanation", rationale: "It explains nothing." }];
    const own = { metricName: "teaching", threshold: 1, evalStatus: 3, details: { rubricScores } };
    const [result] = results.evalCaseResults;
    result.overallEvalMetricResults.push(own);
    result.evalMetricResultPerInvocation[0].evalMetricResults.push(own);
    const page = await caseOf(site, results, "calm");
    await page.getByRole("rowheader", { name: /^explanation/ }).waitFor();
    await site.done(page);
  });
});
