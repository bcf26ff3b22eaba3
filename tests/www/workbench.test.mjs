// What a team needs every day: cases by tag, the config in the header, Markdown, every digit, comments, a screen reader's order.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { assertHarmless, ELSEWHERE, MARKUP, onDisk, watched } from "./hostile.mjs";
import { caseOf, scored, scoredExample, showing, turn } from "./scored.mjs";
import { areKept, becomes, example, playground, says, skip, violations } from "./support.mjs";

const choose = (page, files) => page.getByLabel("Choose files").setInputFiles(files);
const namesIn = (page) => page.locator(".grid-body [role=row] a").allInnerTexts();

/** The weather example, with tags for some of its cases. */
function tagged() {
  const evalSet = JSON.parse(readFileSync(example("weather", "weather.evalset.json"), "utf8"));
  const ids = evalSet.eval_cases.map(({ eval_id }) => eval_id);
  evalSet.eval_cases[0].tags = ["smoke", "slow"];
  evalSet.eval_cases[1].tags = ["smoke", MARKUP];
  for (const at of [0, 2]) evalSet.eval_cases[at].topic = "rain";
  return { ids, file: onDisk("weather.evalset.json", JSON.stringify(evalSet)) };
}

describe("cases by tag", { skip }, () => {
  const site = playground();

  test("are a filter, part of the address, that a reload keeps", async () => {
    const page = await site.open();
    const { ids, file } = tagged();
    await choose(page, [file, example("weather", "weather.actual.json"), example("weather", "test_config.json")]);
    await page.getByRole("button", { name: /^Score \d+ cases$/ }).click();
    await page.getByRole("grid").waitFor();
    const did = watched(page);
    await page.locator("summary", { hasText: "Filters" }).click();
    const tag = page.getByLabel("Tag");
    await tag.selectOption("smoke");
    await becomes(() => namesIn(page), ids.slice(0, 2));
    await says(page.locator("summary", { hasText: "Filters" }), /Filters: 1/);
    assert.deepEqual(await violations(page), []);
    await tag.selectOption("slow");
    await becomes(() => namesIn(page), ids.slice(0, 1));
    assert.match(page.url(), /tag=slow/);
    await areKept(page, "files", "settings", "runs", "shown");
    await page.reload();
    await becomes(() => namesIn(page), ids.slice(0, 1));
    await page.locator("summary", { hasText: "Filters" }).click();
    await page.getByLabel("Tag").selectOption(MARKUP);
    await becomes(() => namesIn(page), ids.slice(1, 2));
    await assertHarmless(page, did, "tags");
    await page.getByLabel("Tag").selectOption("topic: rain");
    await becomes(() => namesIn(page), [ids[0], ids[2]]);
    await page.getByLabel("Tag").selectOption("");
    await becomes(async () => (await namesIn(page)).length, ids.length);
    await site.done(page);
  });

  test("are not asked for where no case has any", async () => {
    const page = await site.open();
    await page.getByRole("button", { name: "Weather: Score it" }).click();
    await page.locator("summary", { hasText: "Filters" }).click();
    await page.getByLabel("Tool called or expected").locator("option").nth(1).waitFor({ state: "attached" });
    assert.equal(await page.getByLabel("Tag").count(), 0);
    await site.done(page);
  });
});

describe("the header of results", { skip }, () => {
  const site = playground();

  test("says with which config they were scored, also after a reload", async () => {
    const page = await site.open();
    const facts = page.getByRole("region", { name: "Summary" });
    await page.getByRole("button", { name: "Weather: Score it" }).click();
    await says(facts, /Config weather\/test_config\.json/);
    await areKept(page, "files", "settings", "runs", "shown");
    await page.reload();
    await says(facts, /Config weather\/test_config\.json/);
    await page.getByRole("link", { name: "Files", exact: true }).click();
    await page.getByRole("button", { name: "Library desk: Score it" }).click();
    await says(facts, /Config google-adk’s default criteria/);
    await site.done(page);
  });
});

describe("the column of evalsets", { skip }, () => {
  const site = playground();

  test("is there where results are of several, has the keys of the others, and sorts", async () => {
    const page = await showing(site, [await scoredExample("museum-guide"), await scoredExample("weather")]);
    const column = page.getByRole("columnheader", { name: "Evalset", exact: true });
    assert.equal(await column.getAttribute("aria-colindex"), "2");
    await page
      .getByRole("row", { name: /student_ticket/ })
      .getByText("museum-guide", { exact: true })
      .waitFor();
    await page
      .getByRole("row", { name: /two_cities/ })
      .getByText("weather", { exact: true })
      .waitFor();
    const grid = page.getByRole("grid");
    await grid.locator('[tabindex="0"]').focus();
    const place = () => page.evaluate(() => document.activeElement.getAttribute("aria-colindex"));
    await page.keyboard.press("ArrowRight");
    await becomes(place, "2");
    await page.keyboard.press("End");
    await becomes(place, await grid.getAttribute("aria-colcount"));
    await column.click();
    await becomes(() => column.getAttribute("aria-sort"), "descending");
    await becomes(async () => (await namesIn(page)).includes("snow_depth"), true);
    assert.deepEqual(await violations(page), []);
    await site.done(page);
    const one = await showing(site, await scoredExample("weather"));
    await one.getByRole("columnheader", { name: /response_match_score/ }).waitFor();
    assert.equal(await one.getByRole("columnheader", { name: "Evalset", exact: true }).count(), 0);
    await site.done(one);
  });
});

describe("an evalset made of a session", { skip }, () => {
  const site = playground();

  test("has every digit of the calls' integers", async () => {
    const page = await site.open();
    const part = { function_call: { name: "find", args: { id: 0, list: [0], small: 7, share: 0.5 } } };
    const session = {
      id: "digits",
      events: [
        { author: "user", content: { role: "user", parts: [{ text: "Find it" }] } },
        { author: "agent", content: { role: "model", parts: [part] } },
        { author: "agent", content: { role: "model", parts: [{ text: "Found" }] } },
      ],
    };
    const text = JSON.stringify(session).replace('"id":0', '"id":12345678901234567891');
    const file = onDisk("digits.session.json", text.replace("[0]", "[-9007199254740993]"));
    await choose(page, [file]);
    await page.getByRole("link", { name: /^Make an evalset of/ }).click();
    await page.locator(".draft-case").first().waitFor();
    await page.getByRole("button", { name: "Make an evalset of 1 case" }).click();
    await page.waitForURL("**/#/edit/**");
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Export evalset" }).click(),
    ]);
    const made = readFileSync(await download.path(), "utf8").replace(/\s+/g, "");
    assert.match(made, /"id":12345678901234567891,"list":\[-9007199254740993\],"small":7,"share":0\.5/);
    await site.done(page);
  });
});

describe("comments without a label", { skip }, () => {
  const site = playground();

  test("are exported and imported", async () => {
    const page = await showing(site, await scoredExample("cake-orders"));
    await page.getByRole("link", { name: /^Label verdicts/ }).click();
    await page.locator(".label-sides").last().waitFor();
    await page.keyboard.press("c");
    await page.keyboard.type("look at this again");
    await page.keyboard.press("Enter");
    for (const button of ["Export CSV", "JSON lines"]) {
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("button", { name: button }).click(),
      ]);
      const content = readFileSync(await download.path(), "utf8");
      await page.getByRole("button", { name: "Remove all" }).click();
      await page.getByLabel("Import labels").setInputFiles(onDisk(download.suggestedFilename(), content));
      await says(page.locator(".label-messages"), /0 labels imported, and 1 comment without a label\./);
      await becomes(
        () =>
          page
            .getByLabel(/^Comment/)
            .first()
            .inputValue(),
        "look at this again",
      );
    }
    await site.done(page);
  });
});

const ANSWER = `# Your trip

It costs **120 euros**, *all in*, as \`book_trip\` says.

1. Fly to Rome
   - at *noon*
2. Stay for 3 nights

| Day | Plan |
| --- | ---- |
| 1   | ~~Rain~~ Museum |

> See [the map](https://example.org/map) or https://example.org/x.

\`\`\`json
{ "a": 1 }
\`\`\``;

describe("Markdown", { skip }, () => {
  const site = playground();
  const made = (answer, expected = "A plan") =>
    scored({ trip: [[turn("Plan it", expected)], [turn("Plan it", answer)]] }, { response_match_score: 0.9 });

  test("is rendered on request, and text again", async () => {
    const page = await caseOf(site, await made(ANSWER), "trip");
    const agent = page.locator(".message.agent");
    assert.match(await agent.innerText(), /# Your trip/);
    await page.getByRole("button", { name: "Render Markdown" }).click();
    await becomes(() => agent.locator("strong, em, del").allInnerTexts(), ["120 euros", "all in", "noon", "Rain"]);
    assert.deepEqual(await agent.locator(".heading").allInnerTexts(), ["Your trip"]);
    assert.deepEqual(await agent.locator("ol > li").count(), 2);
    assert.deepEqual(await agent.locator("ol > li ul > li").allInnerTexts(), ["at noon"]);
    assert.deepEqual(await agent.locator("th").allInnerTexts(), ["Day", "Plan"]);
    assert.deepEqual(await agent.locator("td").allInnerTexts(), ["1", "Rain Museum"]);
    assert.deepEqual(await agent.locator("code").allInnerTexts(), ["book_trip"]);
    assert.equal(await agent.locator("pre").innerText(), '{ "a": 1 }');
    const links = await agent.locator("a").evaluateAll((all) => all.map(({ href, rel }) => [href, rel]));
    assert.deepEqual(
      links,
      ["https://example.org/map", "https://example.org/x"].map((href) => [href, "noopener noreferrer nofollow"]),
    );
    for (const colorScheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme });
      assert.deepEqual(await violations(page), []);
    }
    await page.getByRole("button", { name: "Show as text" }).click();
    await says(agent, /\*\*120 euros\*\*/);
    await site.done(page);
  });

  test("is not offered for plain text", async () => {
    const page = await caseOf(site, await made("It has snake_case_names and 2 * 3 = 6.", "A plan."), "trip");
    await page.getByRole("button", { name: "Changed words" }).waitFor();
    assert.equal(await page.getByRole("button", { name: "Render Markdown" }).count(), 0);
    await site.done(page);
  });

  test("has no HTML, no image and no address but those of the web", async () => {
    const hostile = `# ${MARKUP}\n\n![x](${ELSEWHERE}/i.png) [j](javascript:globalThis.__owned=1) [d](data:text/html,x) **a
<b onclick=1>** \`<img src=x>\` [f](//elsewhere.invalid) [v](vbscript:x) snake_case_name`;
    const page = await caseOf(site, await made(hostile, MARKUP), "trip");
    const did = watched(page);
    await page.getByRole("button", { name: "Render Markdown" }).click();
    const agent = page.locator(".message.agent .markdown");
    await agent.waitFor();
    assert.equal(await agent.locator("img, script, svg, iframe, style, link, b").count(), 0);
    const addresses = await agent.locator("a").evaluateAll((all) => all.map((a) => a.getAttribute("href")));
    assert.deepEqual(
      addresses,
      ["a", "b"].map((name) => `${ELSEWHERE}/${name}.css`),
    );
    assert.match(await agent.innerText(), /snake_case_name/);
    await assertHarmless(page, did, "case");
    await site.done(page);
  });

  test("takes no time that grows faster than its text", async () => {
    const pieces = [
      "[".repeat(29_000),
      "**a ".repeat(7000),
      "> ".repeat(14_000),
      "`".repeat(29_000),
      "- ".repeat(14_000),
    ];
    const all = [...pieces, `|${" ".repeat(14_000)}\n|-${" ".repeat(14_000)}x`, `# ${" #".repeat(14_000)}x`];
    for (const text of all) {
      const page = await caseOf(site, await made(`**bold** ${text.slice(0, 28_900)}`), "trip");
      const took = await page.getByRole("button", { name: "Render Markdown" }).evaluate(async (button) => {
        const began = performance.now();
        button.click();
        while (!document.querySelector(".message.agent .markdown")) await new Promise(requestAnimationFrame);
        return performance.now() - began;
      });
      assert.ok(took < 2000, `${text.slice(0, 20)}: ${took} ms`);
      await site.done(page);
    }
  });
});

describe("a screen reader", { skip }, () => {
  const site = playground();

  /** What Chromium's accessibility tree has of the wanted roles, in its order. */
  async function readOut(page, wanted) {
    const session = await page.context().newCDPSession(page);
    const { nodes } = await session.send("Accessibility.getFullAXTree");
    const byId = new Map(nodes.map((node) => [node.nodeId, node]));
    const found = [];
    const walk = (node) => {
      if (!node.ignored && wanted.includes(node.role?.value))
        found.push(`${node.role.value}: ${node.name?.value ?? ""}`);
      for (const id of node.childIds ?? []) if (byId.has(id)) walk(byId.get(id));
    };
    walk(nodes[0]);
    await session.detach();
    return found;
  }

  /** That each comes after the one before. */
  function inOrder(all, expected, where) {
    let at = -1;
    for (const one of expected) {
      const next = all.findIndex(
        (found, place) => place > at && (one instanceof RegExp ? one.test(found) : found === one),
      );
      assert.ok(next > at, `${where}: ${one} is not after ${all[at] ?? "the beginning"}: ${all.join(" | ")}`);
      at = next;
    }
  }

  const ROLES = ["banner", "navigation", "main", "heading", "region", "grid", "link", "button", "table"];

  test("comes to the parts of each screen in the order in which they are read", async () => {
    const page = await site.open();
    const skipLink = "button: Skip to the content";
    await page.getByRole("heading", { level: 1 }).waitFor();
    inOrder(
      await readOut(page, ROLES),
      [
        skipLink,
        "banner: ",
        "navigation: Steps",
        "main: ",
        "heading: See why your agent passes or fails",
        /^button: Weather: Score it/,
      ],
      "files",
    );
    await page.getByRole("button", { name: "Weather: Score it" }).click();
    await page.getByRole("grid").waitFor();
    inOrder(
      await readOut(page, ROLES),
      [
        ...[skipLink, "navigation: Steps", "main: ", "heading: Results", "region: Summary"],
        ...["heading: Scores and thresholds", "heading: Cases", /^grid: /, "link: two_cities"],
      ],
      "results",
    );
    await page.getByRole("link", { name: "two_cities" }).click();
    await page.locator(".turn").first().waitFor();
    inOrder(
      await readOut(page, ROLES),
      [
        ...[skipLink, "navigation: Steps", "main: ", "heading: two_cities", "button: Only differences"],
        ...["heading: User", /^heading: Expected response/, /^heading: Final response/, /^heading: Tool calls/],
      ],
      "case",
    );
    await site.done(page);
  });
});

/** What a first visit may take over the wire until the page can be used. */
const FIRST_LOAD = 320_000;

describe("a first visit", { skip }, () => {
  const site = playground();

  test("takes less than its budget until the page can be used", async () => {
    const page = await site.open({ serviceWorkers: "block" });
    const session = await page.context().newCDPSession(page);
    await session.send("Network.enable");
    await session.send("Network.setCacheDisabled", { cacheDisabled: true });
    let bytes = 0;
    session.on("Network.loadingFinished", ({ encodedDataLength }) => (bytes += encodedDataLength));
    await page.reload({ waitUntil: "commit" });
    await page.getByRole("button", { name: "Weather: Score it" }).waitFor();
    assert.ok(bytes > 30_000 && bytes < FIRST_LOAD, `${bytes} bytes`);
    await site.done(page);
  });
});
