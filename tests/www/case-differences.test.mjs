// A case: what differs, the way from one failure to the next, copying, and why judges voted as they did.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertHarmless, EVERYTHING, hostileResults, watched } from "./hostile.mjs";
import { caseOf, linkOf, scored, scoredExample, turn } from "./scored.mjs";
import { areKept, becomes, playground, says, skip, violations } from "./support.mjs";

const long = (word, count) => Array.from({ length: count }, (_, at) => `${word}${at}`).join(" ");

/** A case of several turns, in which the calls of some differ. */
async function trip(days, differing) {
  const conversation = (isActual) =>
    Array.from({ length: days }, (_, day) => {
      const city = isActual && differing.includes(day + 1) ? "Rome" : "Oslo";
      return turn(`Day ${day + 1}?`, "Sunny", [{ name: "look", args: { city } }]);
    });
  const same = [turn("Hi", "Hello", [{ name: "greet", args: {} }])];
  const other = [turn("Hi", "Hello", [{ name: "wave", args: {} }])];
  const conversations = {
    trip: [conversation(false), conversation(true)],
    calm: [same, same],
    late: [same, other],
  };
  return scored(conversations, { tool_trajectory_avg_score: 1 });
}

/** The turn that has the focus, and that is in sight. */
const focusedTurn = (page) =>
  page.evaluate(() => {
    const turn = document.activeElement?.closest(".turn");
    return turn && turn.getBoundingClientRect().top < innerHeight ? turn.id : undefined;
  });

describe("what differs in a case", { skip }, () => {
  const site = playground();

  test("changed words and changed values are marked on both sides, and shared words on request", async () => {
    const page = await caseOf(site, await scoredExample("weather"), "two_cities");
    const marks = (side) => page.locator(side).locator("mark.changed").allInnerTexts();
    await becomes(() => marks(".message.expected"), ["27", "22"]);
    await becomes(() => marks(".message.agent"), ["81", "72"]);
    await becomes(() => marks("td[data-side=Expected]"), ["celsius", "celsius"]);
    await becomes(() => marks("td[data-side=Actual]"), ["fahrenheit", "fahrenheit"]);
    await page.getByRole("button", { name: "Shared words" }).click();
    await becomes(() => marks(".message"), []);
    await site.done(page);
  });

  test("calls that were not expected are marked where a metric compares calls, also without explanations", async () => {
    const conversations = { idle: [[turn("Hi", "Hello")], [turn("Hi", "Hello", [{ name: "wave", args: {} }])]] };
    const result = await scored(conversations, { tool_trajectory_avg_score: 1 });
    for (const { evalMetricResultPerInvocation } of result.evalCaseResults) {
      for (const metric of evalMetricResultPerInvocation[0].evalMetricResults) delete metric.explanation;
    }
    const page = await caseOf(site, result, "idle");
    await says(page.locator(".call-row.extra"), /wave/);
    await site.done(page);
  });

  test("values are marked where they are, in objects and lists, and words in long texts", async () => {
    const note = (word) => `Please put the ${word} "umbrella" next to the door`;
    const args = (beds, word, name, more) => ({
      room: { beds, "odd key": [1, { floor: beds }], floor: 1 },
      note: note(word),
      guests: [{ name: "Ada" }, { name, of: null }],
      ...more,
    });
    const call = (...given) => [{ name: "book", args: args(...given) }];
    const conversations = {
      hotel: [
        [turn("A room", "Booked", call(2, "green", "Bo", { gone: { at: 1 } }))],
        [turn("A room", "Booked", call(3, "red", 7, { extra: [] }))],
      ],
    };
    const page = await caseOf(site, await scored(conversations, { tool_trajectory_avg_score: 1 }), "hotel");
    const marks = (side) => page.locator(`td[data-side=${side}] mark.changed`).allInnerTexts();
    await becomes(() => marks("Expected"), ["2", "2", "green", '"Bo"', '{\n    "at": 1\n  }']);
    await becomes(() => marks("Actual"), ["3", "3", "red", "7", "[]"]);
    await site.done(page);
  });

  test("texts that differ too much are marked from the first difference to the last, and the page says so", async () => {
    const [expected, actual] = [`First ${long("a", 500)} last`, `First ${long("b", 500)} last`];
    const results = await scored(
      { much: [[turn("Say", expected)], [turn("Say", actual)]] },
      { response_match_score: 0.9 },
    );
    const page = await caseOf(site, results, "much");
    await says(page.locator(".legend"), /differ too much to mark words/);
    await becomes(() => page.locator(".message mark.changed").count(), 2);
    await site.done(page);
  });

  test("only differences are shown on request: remembered, and in links", async () => {
    const middle = long("word", 200);
    const calls = (city) => [
      { name: "find", args: { day: 1 } },
      { name: "look", args: { city, unit: "celsius" } },
    ];
    const conversations = {
      odd: [
        [turn("Tell", `Begin ${middle} warm ${middle} end`, calls("Oslo"))],
        [turn("Tell", `Begin ${middle} cold ${middle} end`, calls("Rome"))],
      ],
      spaced: [[turn("Tell", "One two")], [turn("Tell", "One  two")]],
      same: [[turn("Tell", "One two", calls("Oslo"))], [turn("Tell", "One two", calls("Oslo"))]],
    };
    const results = await scored(conversations, { tool_trajectory_avg_score: 1, response_match_score: 0.9 });
    const page = await caseOf(site, results, "odd");
    const toggle = page.getByRole("button", { name: "Only differences" });
    await toggle.click();
    const answer = page.locator(".message.agent");
    await says(answer, /^Final response [\d,]+ characters alike .*word199 cold word0.* [\d,]+ characters alike$/);
    assert.ok((await answer.innerText()).length < 400);
    await becomes(() => page.locator(".call-row.match").count(), 0);
    await says(page.locator(".calls"), /1 call that matches is not shown/);
    await says(page.locator(".aligned"), /Changed 2 look 2 look city .*"Oslo" .*"Rome"$/);
    assert.doesNotMatch(await page.locator(".aligned").innerText(), /celsius/);
    assert.match(page.url(), /#\/case\/0\?only=differences$/);
    await page.keyboard.press("ArrowRight");
    await says(page.locator(".responses"), /Only white space differs/);
    assert.match(page.url(), /#\/case\/1\?only=differences$/);
    await page.keyboard.press("ArrowRight");
    await says(page.locator(".responses"), /as expected, word for word/);
    await says(page.locator(".calls"), /All calls match/);
    assert.deepEqual(await violations(page), []);
    // By its key, and back.
    await page.keyboard.press("d");
    await becomes(() => toggle.getAttribute("aria-pressed"), "false");
    assert.match(page.url(), /#\/case\/2$/);
    await page.keyboard.press("d");
    await areKept(page, "runs", "shown");
    await page.reload();
    await page.getByRole("button", { name: "Only differences", pressed: true }).waitFor();
    // A link shows the same to somebody else, whatever they saw before.
    await page.keyboard.press("d");
    await becomes(() => toggle.getAttribute("aria-pressed"), "false");
    await page.evaluate(() => {
      location.hash = "#/case/0?only=differences";
    });
    await page.getByRole("button", { name: "Only differences", pressed: true }).waitFor();
    await says(page.locator(".message.agent"), /characters alike/);
    await site.done(page);
  });

  test("keys lead to the next failed turn, and from the last to the next failed case", async () => {
    const page = await caseOf(site, await trip(40, [2, 35]), "trip");
    await becomes(() => page.locator(".turn.folded").count(), 29);
    await page.keyboard.press("n");
    await becomes(() => focusedTurn(page), "turn-2");
    // Beyond the turns that are shown at first.
    await page.keyboard.press("n");
    await becomes(() => focusedTurn(page), "turn-35");
    await page.keyboard.press("t");
    await becomes(() => focusedTurn(page), "turn-2");
    await page.getByRole("button", { name: "Next failed turn" }).click();
    await becomes(() => focusedTurn(page), "turn-35");
    await page.keyboard.press("n");
    await page.getByRole("heading", { level: 1, name: "late" }).waitFor();
    await page.keyboard.press("?");
    const keys = page.getByRole("dialog", { name: "Keyboard shortcuts" });
    await says(
      keys,
      /n The next failure: a turn of the case, then the next case that failed t The next turn that failed/,
    );
    // A dialog has its keys to itself.
    await page.keyboard.press("d");
    await keys.getByRole("button", { name: "Close" }).click();
    await becomes(() => page.getByRole("button", { name: "Only differences" }).getAttribute("aria-pressed"), "false");
    await site.done(page);
  });

  test("answers, arguments, rationales and prompts are copied as they are", async () => {
    const page = await site.open();
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"], { origin: site.origin });
    const copied = async (name, within = page) => {
      await within.getByRole("button", { name, exact: true }).first().click();
      return page.evaluate(() => navigator.clipboard.readText());
    };
    await page.getByRole("button", { name: "Weather: Score it" }).click();
    await page.getByRole("link", { name: "two_cities" }).click();
    assert.match(await copied("Copy the final response"), /^Lisbon is warmer tomorrow: it will be 81 degrees/);
    await says(page.locator(".case > [role=status]"), /^Copied$/);
    assert.match(await copied("Copy the expected response"), /27 degrees/);
    const args = await copied("Copy the arguments as JSON", page.locator("td[data-side=Actual]"));
    assert.deepEqual(JSON.parse(args), { city: "Lisbon", day: "tomorrow", unit: "fahrenheit" });
    await page.getByRole("link", { name: "Files", exact: true }).click();
    await page.getByRole("button", { name: "Museum guide: Score it" }).click();
    await page.getByRole("link", { name: "student_ticket" }).click();
    const metric = page.locator("article.metric").filter({ hasText: "final_response_match_v2" });
    assert.equal(await copied("Copy the rationale", metric), "The reference says 7 euros, the answer 9.");
    await metric.locator("details.vote summary").first().click();
    await metric.getByText("You compare an agent's answer").waitFor();
    assert.match(await copied("Copy the prompt", metric), /You compare an agent's answer/);
    assert.match(await copied("Copy the reply", metric), /"is_the_agent_response_valid"/);
    await site.done(page);
  });

  test("why judges voted as they did is in the open where a metric did not pass", async () => {
    const page = await caseOf(site, await scoredExample("museum-guide"), "student_ticket");
    const metric = page.locator("article.metric").filter({ hasText: "final_response_match_v2" });
    await says(
      metric,
      /No sample 1.*The reference says 7 euros, the answer 9\..*The price is wrong: 9 euros instead of 7\. The free Sunday is right\./,
    );
    // What passed has it behind a click.
    const safe = page.locator("article.metric").filter({ hasText: "safety_v1" });
    assert.equal(await safe.locator(".vote-box > .vote-rationale").count(), 0);
    await site.done(page);
    const cakes = await caseOf(site, await scoredExample("cake-orders"), "birthday_inscription");
    await says(
      cakes.locator("#turn-2 .open-rubrics").first(),
      /right_price not met, 1 yes, 3 no place_order says 32 euros in total, the answer says 29\./,
    );
    await site.done(cakes);
  });

  test("hostile texts are texts on every part of it", async () => {
    const results = await hostileResults();
    const page = await site.open({ at: linkOf(results) });
    const did = watched(page);
    await page.getByRole("heading", { level: 1, name: "Results" }).waitFor();
    await page.evaluate(() => {
      location.hash = "#/case/0";
    });
    await page.locator(".turn").first().waitFor();
    await page.getByRole("button", { name: "Changed words" }).first().click();
    await page.locator(".message mark.changed").first().waitFor();
    await page.locator(".vote-rationale").first().waitFor();
    await assertHarmless(page, did, "the changes of a case");
    await page.keyboard.press("d");
    await page.getByRole("button", { name: "Only differences", pressed: true }).waitFor();
    await says(page.locator(".turn").first(), /differed/);
    await assertHarmless(page, did, "only differences");
    const all = await page.locator("main").evaluate((main) => main.textContent);
    assert.doesNotMatch(all, /[\u202A-\u202E\u0000\u200B]/);
    assert.ok(EVERYTHING.includes("javascript:"));
    await site.done(page);
  });

  test("has nothing that axe finds wrong, in both themes and narrow", async () => {
    const text = (word) => `# Title\n\nSome **${word}** and [a link](https://example.com)\n\n- one\n- \`two\``;
    const calls = (city) => [{ name: "look", args: { city, list: [1, { of: city }] } }];
    const results = await scored(
      { odd: [[turn("Go", text("old"), calls("Oslo"))], [turn("Go", text("new"), calls("Rome"))]] },
      { response_match_score: 0.99, tool_trajectory_avg_score: 1 },
    );
    for (const theme of ["light", "dark"]) {
      for (const width of [360, 1280]) {
        const page = await caseOf(site, results, "odd", { theme, width });
        await page.locator("td mark.changed").first().waitFor();
        const fits = async (what) => {
          assert.deepEqual(await violations(page), [], `${what}, ${theme}, ${width} px`);
          const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
          assert.ok(overflow <= 0, `${what} at ${width} px is ${overflow} px too wide`);
        };
        await fits("changes");
        await page.getByRole("button", { name: "Only differences" }).click();
        await fits("only differences");
        await page.getByRole("button", { name: "Only differences" }).click();
        await site.done(page);
      }
    }
  });
});
