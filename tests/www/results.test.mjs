// The results of a run: a grid to walk through, thresholds to move, verdicts that follow.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { linkOf, scored, scoredExample, showing, turn } from "./scored.mjs";
import { areKept, becomes, playground, says, skip, violations } from "./support.mjs";

/** The names of the cases that the grid shows, in its order. */
const casesIn = async (page) => {
  const rows = await page.locator(".grid-body [role=row]").evaluateAll((all) =>
    all
      .map((row) => [Number(row.getAttribute("aria-rowindex")), row.querySelector("a")?.textContent])
      .sort((a, b) => a[0] - b[0])
      .map(([, name]) => name),
  );
  return rows;
};

const active = (page) =>
  page.evaluate(() => {
    const cell = document.activeElement.closest("[aria-colindex]");
    return [cell?.parentElement.getAttribute("aria-rowindex"), cell?.getAttribute("aria-colindex")].map(Number);
  });

/** Many cases whose words are more and more others. */
const many = (count) =>
  Object.fromEntries(
    Array.from({ length: count }, (_, at) => {
      const words = Array.from({ length: 20 }, (_, word) => `word${word}`);
      const said = words.map((word, place) => (place < at % 20 ? `other${place}` : word));
      return [`case_${at}`, [[turn("Say it", words.join(" "))], [turn("Say it", said.join(" "))]]];
    }),
  );

describe("the results", { skip }, () => {
  const site = playground();

  test("sum up verdicts, judges and what they took", async () => {
    const page = await showing(site, await scoredExample("museum-guide"));
    const summary = page.getByRole("region", { name: "Summary" });
    const text = (await summary.innerText()).replace(/\s+/g, " ");
    for (const fact of [
      "6 Cases",
      "2 Passed",
      "4 Failed",
      "0 Not evaluated",
      "Replies reused 54",
      "Skipped (vote decided) 12",
    ]) {
      const [value, ...name] = fact.split(" ");
      const either = [fact, `${name.join(" ")} ${value}`];
      assert.ok(
        either.some((one) => text.includes(one)),
        `${fact}: ${text}`,
      );
    }
    assert.match(text, /Judge written-by-hand/);
    await site.done(page);
  });

  test("are filtered by verdict and by case id, and sorted by a metric", async () => {
    const page = await showing(site, await scoredExample("museum-guide"));
    await page.getByRole("radio", { name: /^Failed/ }).check();
    await becomes(() => casesIn(page), ["student_ticket", "audio_guide", "with_children", "guides_address"]);
    await page.getByLabel("Whose verdict").selectOption({ label: "Verdicts of response_evaluation_score" });
    await becomes(() => casesIn(page), ["with_children"]);
    await page.getByLabel("Whose verdict").selectOption({ label: "Case verdicts" });
    await page.getByLabel("Search ids, questions, answers, tools and reasons").fill("GUIDE");
    await becomes(() => casesIn(page), ["audio_guide", "guides_address"]);
    await page.getByLabel("Search ids, questions, answers, tools and reasons").fill("nothing like it");
    await page.getByRole("button", { name: "Show all cases" }).click();
    await becomes(async () => (await casesIn(page)).length, 6);
    await page.getByRole("columnheader", { name: /response_match_score/ }).click();
    await becomes(async () => (await casesIn(page))[0], "guides_address");
    await page.getByRole("columnheader", { name: /response_match_score/ }).click();
    await becomes(async () => (await casesIn(page))[0], "student_ticket");
    const sorted = page.getByRole("columnheader", { name: /response_match_score/ });
    assert.equal(await sorted.getAttribute("aria-sort"), "descending");
    await page.getByLabel("Sort by").selectOption("verdict");
    await becomes(async () => (await casesIn(page))[0], "student_ticket");
    await site.done(page);
  });

  test("are walked through by keyboard, and opened", async () => {
    const page = await showing(site, await scoredExample("museum-guide"));
    const grid = page.getByRole("grid");
    assert.equal(await grid.getAttribute("aria-rowcount"), "7");
    await becomes(() => grid.locator('[tabindex="0"]').count(), 1);
    await grid.locator('[tabindex="0"]').focus();
    await becomes(() => active(page), [1, 1]);
    for (const [key, expected] of [
      ["ArrowDown", [2, 1]],
      ["ArrowRight", [2, 2]],
      ["End", [2, 6]],
      ["Control+End", [7, 6]],
      ["Home", [7, 1]],
      ["Control+Home", [2, 1]],
      ["PageDown", [7, 1]],
      ["ArrowUp", [6, 1]],
    ]) {
      await page.keyboard.press(key);
      await becomes(() => active(page), expected, key);
      await becomes(() => grid.locator('[tabindex="0"]').count(), 1);
    }
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "with_children" }).waitFor();
    await page.goBack();
    await page.getByRole("grid").waitFor();
    await becomes(() => active(page), [6, 1]);
    await site.done(page);
  });

  test("hold only the rows in sight in the document, of however many", async () => {
    const page = await showing(site, await scored(many(3000), { response_match_score: 0.5 }, { explain: "none" }));
    const grid = page.getByRole("grid");
    assert.equal(await grid.getAttribute("aria-rowcount"), "3001");
    assert.ok((await page.locator(".grid-body [role=row]").count()) < 80);
    await grid.locator('[tabindex="0"]').focus();
    await page.keyboard.press("Control+End");
    await page.getByRole("link", { name: "case_2999" }).waitFor();
    await becomes(async () => (await active(page))[0], 3001);
    const isInSight = () =>
      page.evaluate(() => {
        const cell = document.activeElement.getBoundingClientRect();
        const box = document.querySelector(".grid").getBoundingClientRect();
        return cell.top >= box.top && cell.bottom <= box.bottom + 1;
      });
    await becomes(isInSight, true);
    await page.keyboard.press("PageUp");
    await becomes(async () => (await active(page))[0] < 3001, true);
    await site.done(page);
  });

  test("follow a threshold that is moved by keyboard, and say which verdicts flip", async () => {
    const page = await showing(site, await scoredExample("museum-guide"));
    const slider = page.getByRole("slider", { name: "Threshold of response_match_score" });
    await becomes(() => slider.getAttribute("aria-valuenow"), "0");
    await slider.focus();
    for (let times = 0; times < 2; times += 1) await page.keyboard.press("PageUp");
    await becomes(() => slider.getAttribute("aria-valuenow"), "0.2");
    await page.getByRole("heading", { name: "Verdicts flip in 2 cases" }).waitFor();
    const flips = page.getByRole("region", { name: /Verdicts flip/ });
    const hours = flips.getByRole("listitem").filter({ hasText: "sunday_hours" });
    await says(hours, /sunday_hours Passed → Failed response_match_score/);
    await says(flips.getByRole("status"), /1 case now failed/);
    await page.getByRole("radio", { name: /Flipped/ }).check();
    await becomes(() => casesIn(page), ["sunday_hours", "guides_address"]);
    await slider.focus();
    await page.keyboard.press("ArrowLeft");
    await becomes(() => slider.getAttribute("aria-valuenow"), "0.19");
    await page.keyboard.press("Shift+ArrowRight");
    await becomes(() => slider.getAttribute("aria-valuenow"), "0.191");
    await page.keyboard.press("End");
    await becomes(() => slider.getAttribute("aria-valuenow"), "1");
    await page.keyboard.press("Escape");
    await becomes(() => slider.getAttribute("aria-valuenow"), "0");
    await page.getByRole("button", { name: "Show all cases" }).waitFor();
    await site.done(page);
  });

  test("follow a threshold that is dragged or typed, and go back to the run's own", async () => {
    const page = await showing(site, await scoredExample("museum-guide"));
    const slider = page.getByRole("slider", { name: "Threshold of response_evaluation_score" });
    const box = await slider.boundingBox();
    const plot = await slider.locator("..").boundingBox();
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await page.mouse.down();
    await page.mouse.move(plot.x + plot.width * 0.1, box.y + 10, { steps: 8 });
    await page.mouse.up();
    await becomes(() => slider.getAttribute("aria-valuenow"), "1.4");
    const metric = page.getByRole("region", { name: "response_evaluation_score", exact: true });
    await metric.getByText("6 pass").waitFor();
    const cell = page.getByRole("row", { name: /with_children/ });
    await cell.getByRole("rowheader").getByText("Passed").waitFor({ state: "attached" });
    await metric.getByRole("button", { name: "Reset to 3.5" }).click();
    await metric.getByText("5 pass").waitFor();
    // What is typed stays while the field is rendered again for another reason.
    const typed = page.getByRole("spinbutton", { name: "Threshold of safety_v1" });
    await typed.fill("0");
    await slider.evaluate((element) => {
      element.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
    });
    await becomes(() => slider.getAttribute("aria-valuenow"), "3.52");
    assert.equal(await typed.inputValue(), "0");
    await slider.evaluate((element) => {
      element.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true }));
    });
    await becomes(() => slider.getAttribute("aria-valuenow"), "3.5");
    await page.keyboard.press("Enter");
    await page.getByRole("region", { name: "safety_v1", exact: true }).getByText("6 pass").waitFor();
    await page.getByRole("button", { name: "Reset 1 threshold" }).click();
    await page.getByRole("region", { name: "safety_v1", exact: true }).getByText("5 pass").waitFor();
    await becomes(() => page.getByRole("region", { name: /flip/ }).count(), 0);
    await site.done(page);
  });

  test("say that a run was ended early, and why results are not evaluated", async () => {
    const result = await scoredExample("museum-guide");
    const cancelled = { ...result, cancelled: true };
    const page = await showing(site, cancelled);
    assert.match(await page.getByRole("note").innerText(), /ended early.*museum-guide/s);
    await site.done(page);
    const noReference = await scored(
      { alone: [[turn("Hello", "Hi")], [turn("Hello", "Hi there")]] },
      { response_match_score: 0.5, per_turn_user_simulator_quality_v1: 0.5 },
      { judge: () => '{"is_valid": "valid"}' },
    );
    const open = await showing(site, noReference);
    await open
      .getByText(/· \d+ not evaluated/)
      .first()
      .waitFor();
    await open.getByText("Why results are not evaluated").click();
    const why = open.locator("details", { hasText: "Why results are not evaluated" });
    await says(why.locator(".warnings"), /per_turn_user_simulator_quality_v1/);
    await site.done(open);
  });

  test("fit long case ids and twenty metrics into a narrow page", async () => {
    const result = await scored(many(30), { response_match_score: 0.5, tool_trajectory_avg_score: 1 });
    for (const one of result.evalCaseResults) {
      one.evalId = `${one.evalId}_${"that_is_much_longer_than_any_column_".repeat(6)}`;
      const [first] = one.overallEvalMetricResults;
      for (let at = 0; at < 18; at += 1) {
        one.overallEvalMetricResults.push({ ...first, metricName: `a_metric_with_quite_a_long_name_${at}` });
      }
    }
    const page = await showing(site, result, { width: 360, height: 740 });
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(overflow <= 0, `${overflow} px too wide`);
    await page.getByText("Scores and thresholds", { exact: true }).click();
    await becomes(() => page.getByRole("slider").count(), 8);
    await page.getByRole("button", { name: "Show all 20" }).click();
    await becomes(() => page.getByRole("slider").count(), 20);
    await page.locator('.grid [tabindex="0"]').focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("End");
    const isInSight = () =>
      page.evaluate(() => {
        const cell = document.activeElement.getBoundingClientRect();
        return cell.left >= 0 && cell.right <= innerWidth;
      });
    await becomes(isInSight, true);
    await site.done(page);
  });

  test("tell the evalsets of a run apart", async () => {
    const page = await showing(site, [await scoredExample("museum-guide"), await scoredExample("weather")]);
    await page.getByLabel("Evalset", { exact: true }).selectOption({ index: 2 });
    await becomes(async () => (await casesIn(page)).length, 5);
    await becomes(async () => (await casesIn(page)).includes("two_cities"), true);
    await site.done(page);
  });

  test("show what regressed since the run before", async () => {
    const run = (answer) =>
      scored(
        {
          kept: [[turn("Hi", "Hello there")], [turn("Hi", "Hello there")]],
          lost: [[turn("Bye", "See you soon")], [turn("Bye", answer)]],
        },
        { response_match_score: 0.5 },
      );
    const page = await showing(site, await run("See you soon"));
    await becomes(() => page.getByRole("radio", { name: /Regressed/ }).count(), 0);
    const link = linkOf(await run("What?"));
    await page.evaluate((hash) => {
      location.hash = hash;
    }, link);
    await page.getByRole("radio", { name: /Regressed/ }).check();
    await becomes(() => casesIn(page), ["lost"]);
    await site.done(page);
  });

  test("tell what they are of, how many passed, and how sure that is", async () => {
    const page = await showing(site, await scoredExample("weather"));
    const summary = page.getByRole("region", { name: "Summary" });
    await says(summary, /Evalset weather/);
    await says(summary, /Scored \d+ \w+ \d{4}, \d\d:\d\d/);
    await says(summary, /Pass rate 40% \(12 to 77%, 95% interval\)/);
    const metric = page.getByRole("region", { name: "tool_trajectory_avg_score", exact: true });
    await says(metric, /pass · \d fail · mean 0\.\d+ \(0(\.\d+)? to \d(\.\d+)?\)/);
    await site.done(page);
  });

  test("tell how repeated runs of each case ended, and how many would tell more", async () => {
    const run = (answer) =>
      scored(
        {
          steady: [[turn("Hi", "Hello there")], [turn("Hi", "Hello there")]],
          moody: [[turn("Bye", "See you soon")], [turn("Bye", answer)]],
        },
        { response_match_score: 0.5 },
      );
    const runs = await Promise.all(["See you soon", "See you soon", "What?"].map(run));
    const page = await showing(site, {
      ...runs[0],
      evalCaseResults: runs.flatMap(({ evalCaseResults }) => evalCaseResults),
    });
    const summary = page.getByRole("region", { name: "Summary" });
    await says(summary, /Pass rate 83% \(24 to 99%, 95% interval\) pass@3 100% .* pass\^3 50% .* Flaky 1 case/);
    await says(summary, /Variance 0\.000 between cases, 0\.167 between runs of a case/);
    await says(summary, /Pass rate to within 5 points takes about 86 cases, or 129 runs of each case/);
    await site.done(page);
  });

  test("say of the runs of a single case that intervals are about this case", async () => {
    const one = await scored(
      { only: [[turn("Hi", "Hello there")], [turn("Hi", "Hello there")]] },
      { response_match_score: 0.5 },
    );
    const page = await showing(site, { ...one, evalCaseResults: Array(5).fill(one.evalCaseResults[0]) });
    const summary = page.getByRole("region", { name: "Summary" });
    await says(summary, /Pass rate 100% \(57 to 100%, 95% interval\).* Intervals about this case only/);
    await says(summary, /Pass rate to within 5 points takes about \d+ cases; that of this case alone, \d+ runs/);
    await site.done(page);
  });

  test("have the question in each row, and are searched in all their texts", async () => {
    const page = await showing(site, await scoredExample("weather"));
    await says(page.getByRole("row", { name: /two_cities/ }), /Where is it warmer tomorrow/);
    const search = page.getByLabel("Search ids, questions, answers, tools and reasons");
    await search.fill("PORTO");
    await becomes(() => casesIn(page), ["two_cities"]);
    await search.fill("get_weather celsius");
    await becomes(async () => (await casesIn(page)).includes("two_cities"), true);
    await search.fill("no such word");
    await page.getByText("No case matches.").waitFor();
    await site.done(page);
    // What judges said is searched too.
    const judged = await showing(site, await scoredExample("cake-orders"));
    await judged.getByLabel("Search ids, questions, answers, tools and reasons").fill("umlauts lost");
    await becomes(() => casesIn(judged), ["birthday_inscription"]);
    await site.done(judged);
  });

  test("are filtered by score and tool, in links that a reload and another tab follow", async () => {
    const turns = (answer, tool) => [[turn("Hi", "Hello there")], [turn("Hi", answer, [{ name: tool, args: {} }])]];
    const results = await scored(
      { near: turns("Hello", "look"), far: turns("What?", "look"), other: turns("Hello there", "book") },
      { response_match_score: 0.5 },
    );
    const page = await showing(site, results);
    await page.locator("summary", { hasText: "Filters" }).click();
    await page.getByLabel("Metric", { exact: true }).selectOption("response_match_score");
    await page.getByRole("spinbutton", { name: "Score", exact: true }).fill("0.9");
    await becomes(() => casesIn(page), ["near", "far"]);
    await page.getByLabel("Tool called or expected").selectOption("book");
    await becomes(() => casesIn(page), []);
    await page.getByLabel("Comparison").selectOption("at least");
    await becomes(() => casesIn(page), ["other"]);
    assert.deepEqual(await violations(page), []);
    await page.getByLabel("Tool called or expected").selectOption("");
    await page.getByLabel("Metric", { exact: true }).selectOption("");
    await page.getByRole("radio", { name: /Failed/ }).check();
    await page.getByLabel("Sort by").selectOption("case");
    await page.getByRole("button", { name: "Sort descending" }).click();
    await becomes(() => casesIn(page), ["far"]);
    const link = page.url();
    assert.match(link, /#run=[\w-]+\?show=failed&sort=case&order=descending/);
    await page.reload();
    await page.getByRole("heading", { level: 1, name: "Results" }).waitFor();
    await becomes(() => casesIn(page), ["far"]);
    const other = await site.open({ at: new URL(link).hash });
    await becomes(() => casesIn(other), ["far"]);
    await site.done(other);
    // A run that is kept, without its results in the address.
    await page.getByRole("link", { name: "Files" }).click();
    await page.getByRole("link", { name: "Results" }).click();
    await page.waitForURL(/#\/results\?show=failed/);
    await areKept(page, "runs", "shown");
    await page.reload();
    await becomes(() => casesIn(page), ["far"]);
    await site.done(page);
  });

  test("leave out columns without a value, which can be chosen", async () => {
    const page = await showing(site, await scoredExample("weather"));
    const heads = () => page.getByRole("columnheader").count();
    await becomes(heads, 4);
    await page.getByText("Columns", { exact: true }).click();
    await page.getByRole("checkbox", { name: "token_usage_v1" }).check();
    await becomes(heads, 5);
    // What is counted is said where its numbers stand.
    await says(page.getByRole("columnheader", { name: "token_usage_v1" }), /tokens$/);
    await says(page.getByRole("columnheader", { name: "tool_call_count_v1" }), /tool calls$/);
    await page.getByRole("checkbox", { name: "response_match_score" }).uncheck();
    await becomes(heads, 4);
    // The columns are part of the link.
    await page.reload();
    await page.getByRole("columnheader", { name: "token_usage_v1" }).waitFor();
    await becomes(heads, 4);
    await site.done(page);
  });

  test("with moved thresholds give a config, and say so where they are exported", async () => {
    const page = await showing(site, await scoredExample("weather"));
    await page.getByRole("spinbutton", { name: "Threshold of response_match_score" }).fill("0.1");
    await page.keyboard.press("Tab");
    await page.getByRole("heading", { name: /Verdicts flip/ }).waitFor();
    const config = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download test_config.json" }).click();
    const file = await config;
    assert.equal(file.suggestedFilename(), "test_config.json");
    const { criteria } = JSON.parse(readFileSync(await file.path(), "utf8"));
    assert.equal(criteria.response_match_score, 0.1);
    const report = page.waitForEvent("download");
    await page.getByText("Export", { exact: true }).click();
    await page.getByRole("button", { name: /^Markdown/ }).click();
    assert.match(
      readFileSync(await (await report).path(), "utf8"),
      /moved after scoring&#58; response&#95;match&#95;score from 0\.8 to 0\.1/,
    );
    await page.getByRole("button", { name: "Use in criteria" }).click();
    await page.getByRole("heading", { level: 1, name: "Criteria" }).waitFor();
    await becomes(() => page.getByLabel("Threshold, response_match_score").inputValue(), "0.1");
    await site.done(page);
  });

  test("say at the top that a judge gave no verdict, and which cases passed without one", async () => {
    const judge = () => {
      throw new Error("the key is wrong");
    };
    const conversations = { one: [[turn("Hi", "Hello")], [turn("Hi", "Hello")]] };
    const criteria = { response_match_score: 0.5, final_response_match_v2: 0.5 };
    const page = await showing(site, await scored(conversations, criteria, { judge, retry: { attempts: 1 } }));
    await says(page.getByRole("note"), /final_response_match_v2 has no verdict in any case\..*the key is wrong/);
    await says(
      page.getByRole("region", { name: "Summary" }),
      /1 case passed although a metric was not evaluated there/,
    );
    await site.done(page);
  });

  test("have nothing that axe finds wrong, in both themes", async () => {
    for (const theme of ["light", "dark"]) {
      for (const width of [360, 1280]) {
        const page = await showing(site, await scoredExample("museum-guide"), { theme, width });
        if (width === 360) {
          for (const title of ["About this run", "Scores and thresholds"]) {
            await page.getByText(title, { exact: true }).click();
          }
        }
        await page.getByRole("slider", { name: "Threshold of response_match_score" }).focus();
        await page.keyboard.press("End");
        await page.getByRole("heading", { name: /Verdicts flip/ }).waitFor();
        await page.getByText("informational metrics").click();
        assert.deepEqual(await violations(page), [], `${theme}, ${width} px`);
        await site.done(page);
      }
    }
  });
});
