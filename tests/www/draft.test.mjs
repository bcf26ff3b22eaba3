// From nothing to an evalset: conversations become cases, and what an evalset lacks is explained in place.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { root } from "../package/support/package.mjs";
import { assertHarmless, EVERYTHING, file, MARKUP, watched } from "./hostile.mjs";
import { becomes, example, playground, says, skip, violations } from "./support.mjs";

/** A trace of a real agent. */
const TRACE = join(root, "tests/interop/traces/adk-ts.json");

const choose = (page, files) => page.getByLabel("Choose files").setInputFiles(files);
const turnsOf = (page, name) => page.getByRole("list", { name: `Turns of ${name}` });

/** Makes the evalset, and returns its text as the editor exports it. */
async function made(page, button) {
  await page.getByRole("button", { name: button }).click();
  await page.waitForURL("**/#/edit/**");
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Export evalset" }).click(),
  ]);
  return JSON.parse(readFileSync(await download.path(), "utf8"));
}

describe("from nothing to an evalset", { skip }, () => {
  const site = playground();

  test("sessions become cases: which turns, rubrics, and what is expected", async () => {
    const page = await site.open();
    await choose(page, [example("phrasebook", "phrasebook.session.json")]);
    await page.getByRole("link", { name: "Make an evalset of phrasebook.session.json" }).click();
    await turnsOf(page, "session-1").getByRole("checkbox").first().waitFor();
    for (const theme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme: theme });
      assert.deepEqual(await violations(page), []);
    }
    await page.getByRole("checkbox", { name: "session-3" }).uncheck();
    assert.equal(await turnsOf(page, "session-3").getByRole("checkbox").first().isChecked(), false);
    await page.getByLabel("Rubrics").fill("The answer is polite.\n\n It is short. ");
    await page.getByLabel("The agent’s tool calls").uncheck();
    const evalSet = await made(page, "Make an evalset of 4 cases");
    assert.equal(evalSet.eval_set_id, "phrasebook");
    assert.deepEqual(
      evalSet.eval_cases.map(({ eval_id }) => eval_id),
      ["session-1", "session-2", "session-4", "session-5"],
    );
    const [{ conversation, rubrics }] = evalSet.eval_cases;
    assert.deepEqual(
      rubrics.map(({ rubric_content }) => rubric_content.text_property),
      ["The answer is polite.", "It is short."],
    );
    assert.equal(conversation[0].user_content.parts[0].text, "博物馆几点开门？");
    assert.ok(conversation[0].final_response.parts[0].text.length > 0);
    assert.equal(conversation[0].intermediate_data, undefined);
    // It is matched with what it was made of.
    await page.getByRole("link", { name: "Files", exact: true }).click();
    await page.getByRole("link", { name: "Choose criteria" }).click();
    await page.getByRole("link", { name: "JSON", exact: true }).click();
    await page.getByRole("textbox", { name: "The eval config" }).click();
    await page.keyboard.press("Control+A");
    await page.keyboard.insertText('{"criteria": {"response_match_score": 1}}');
    await page.getByRole("link", { name: "Files", exact: true }).click();
    await page.getByRole("button", { name: "Score 4 cases" }).click();
    await says(page.locator(".tally"), /Cases 4 .*Passed 4|4 Cases 4 Passed/);
    await site.done(page);
  });

  test("so do results of google-adk, inference results and traces, with their tool calls", async () => {
    for (const [name, path] of [
      ["travel-concierge.evalset_result.json", example("travel-concierge", "travel-concierge.evalset_result.json")],
      ["shop.inferences.json", example("shop-assistant", "shop.inferences.json")],
      ["trace.json", TRACE],
    ]) {
      const page = await site.open();
      await choose(page, [{ name, mimeType: "application/json", buffer: readFileSync(path) }]);
      await page.getByRole("link", { name: `Make an evalset of ${name}` }).click();
      const { eval_cases: cases } = await made(page, /Make an evalset of [1-9]\d* cases?/);
      const turns = cases.flatMap(({ conversation }) => conversation);
      assert.ok(turns.length > 0 && turns.every(({ user_content }) => user_content.parts[0].text.length > 0), name);
      assert.ok(
        turns.some(({ intermediate_data }) => (intermediate_data?.tool_uses ?? []).length > 0),
        `${name} has tool calls`,
      );
      await site.done(page);
    }
  });

  test("what an evalset lacks is answered in place, with commands to copy", async () => {
    const page = await site.open({ permissions: ["clipboard-read", "clipboard-write"] });
    await choose(page, [example("weather", "weather.evalset.json")]);
    await page.getByText("Where do I get what the agent did?").click();
    for (const theme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme: theme });
      assert.deepEqual(await violations(page), []);
    }
    const copied = () => page.evaluate(() => navigator.clipboard.readText());
    const commands = page.locator(".recipes").getByRole("button", { name: "Copy" });
    await commands.nth(0).click();
    await becomes(
      copied,
      "curl http://localhost:8000/apps/my_agent/users/user/sessions/SESSION_ID > my_agent.session.json",
    );
    await commands.nth(1).click();
    await becomes(copied, "adk eval my_agent weather.evalset.json");
    await commands.nth(2).click();
    await becomes(
      copied,
      "npx adk-metrics record --agent ./agent.ts weather.evalset.json --output weather.actual.json",
    );
    await site.done(page);
  });

  test("hostile conversations are text, and hostile names no commands", async () => {
    const page = await site.open();
    const did = watched(page);
    const event = (author, text) => ({ author, content: { role: author, parts: [{ text }] }, invocation_id: "1" });
    const session = {
      id: EVERYTHING,
      app_name: MARKUP,
      user_id: "u",
      events: [event("user", EVERYTHING), event("agent", MARKUP)],
    };
    const name = `$(rm -rf ~) ${MARKUP.replaceAll("/", "")}`;
    await choose(page, [
      file(`${name}.session.json`, JSON.stringify(session)),
      file(`${name}.evalset.json`, readFileSync(example("weather", "weather.evalset.json"), "utf8")),
    ]);
    await page.getByText("2 files were added").waitFor();
    await page.getByLabel(/^Agent run for/).selectOption("");
    await page.getByText("Where do I get what the agent did?").click();
    assert.doesNotMatch(await page.locator(".recipes").innerText(), /rm -rf/);
    await assertHarmless(page, did, "files");
    await page.getByRole("link", { name: /^Make an evalset of/ }).click();
    await page.locator(".draft-case").waitFor();
    await assertHarmless(page, did, "draft");
    assert.deepEqual(await violations(page), []);
    await page.getByLabel("Id of the evalset").fill("safe");
    await made(page, "Make an evalset of 1 case");
    await assertHarmless(page, did, "edit");
    await site.done(page);
  });
});
