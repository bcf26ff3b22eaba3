// The files of real projects: several folders, files of one name, what belongs to others, and what is not there yet.

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import { becomes, example, keptRecords, playground, says, skip } from "./support.mjs";

const read = (...path) => readFileSync(example(...path), "utf8");
const weather = JSON.parse(read("weather", "weather.evalset.json"));
const actual = JSON.parse(read("weather", "weather.actual.json"));

/** The evalset and a run of it under another id, with one case. */
const evalSetOf = (id, text) => {
  const [first] = weather.eval_cases;
  return JSON.stringify({ eval_set_id: id, eval_cases: [{ ...first, eval_id: text }] });
};
const runOf = (id, text) => {
  const [first] = actual.eval_cases;
  return JSON.stringify({ eval_set_id: id, eval_cases: [{ ...first, eval_id: text }] });
};

/** A folder with these files, by their paths. */
function project(t, files) {
  const folder = mkdtempSync(join(tmpdir(), "project-"));
  t.after(() => rmSync(folder, { recursive: true }));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

describe("a project", { skip }, () => {
  const site = playground();

  test("has files of one name in several folders, of which the right one is edited", async (t) => {
    const page = await site.open();
    const folder = project(t, {
      "a/simple.test.json": evalSetOf("set_a", "case_of_a"),
      "a/simple.actual.json": runOf("set_a", "case_of_a"),
      "b/simple.test.json": evalSetOf("set_b", "case_of_b"),
      "b/simple.actual.json": runOf("set_b", "case_of_b"),
    });
    await page.getByLabel("Choose a folder").setInputFiles(folder);
    await page.getByText("4 files were added.").waitFor();
    await page.getByRole("button", { name: "Score 2 cases" }).click();
    await page.waitForURL("**/#/results");
    const options = await page.getByLabel("Evalset").evaluate((select) => [...select.options].map(({ text }) => text));
    assert.ok(
      options.some((text) => text.includes("/a/simple.test.json")) && options.some((text) => text.includes("/b/")),
    );
    for (const name of ["case_of_b", "case_of_a"]) {
      await page.getByText(name).first().click();
      await page.getByRole("link", { name: "Edit the case" }).click();
      await page
        .getByRole("button", { name: /^Accept/ })
        .first()
        .waitFor();
      assert.equal(await page.locator(".edit").getByText(name).first().isVisible(), true);
      await page.getByRole("link", { name: "Results" }).click();
      await page.waitForURL("**/#/results");
    }
    await site.done(page);
  });

  test("with a config in each folder says which one is used, and lets it be chosen", async (t) => {
    const page = await site.open();
    const config = (threshold) => JSON.stringify({ criteria: { response_match_score: threshold } });
    const folder = project(t, {
      "a/simple.test.json": evalSetOf("set_a", "case_of_a"),
      "a/simple.actual.json": runOf("set_a", "case_of_a"),
      "a/test_config.json": config(0.25),
      "b/simple.test.json": evalSetOf("set_b", "case_of_b"),
      "b/simple.actual.json": runOf("set_b", "case_of_b"),
      "b/test_config.json": config(0.75),
    });
    await page.getByLabel("Choose a folder").setInputFiles(folder);
    await page.getByText("6 files were added.").waitFor();
    const choice = page.getByRole("combobox", { name: "Config", exact: true });
    const chosen = () => choice.evaluate(({ selectedOptions }) => selectedOptions[0].text);
    const other = async (name) => {
      await becomes(async () => (await chosen()).endsWith(`/${name}/test_config.json`), true);
      const unused = name === "a" ? "b" : "a";
      await page
        .getByText(new RegExp(`one config for all of its evalsets\\. Not used: .*/${unused}/test_config`))
        .waitFor();
    };
    const first = (await chosen()).endsWith("/a/test_config.json") ? "a" : "b";
    const second = first === "a" ? "b" : "a";
    await other(first);
    await choice.selectOption({ index: 1 });
    await other(second);
    const keptConfig = async () => {
      const { files, settings } = await keptRecords(page);
      return files?.[settings?.activeConfig]?.folder.split("/").at(-1);
    };
    await becomes(keptConfig, second);
    await page.reload();
    await other(second);
    await page.getByRole("button", { name: "Score 2 cases" }).click();
    await page.waitForURL("**/#/results");
    await says(page.locator(".facts"), new RegExp(`Config .*/${second}/test_config\\.json`));
    const threshold = page.getByRole("spinbutton", { name: "Threshold of response_match_score" });
    assert.equal(await threshold.inputValue(), second === "a" ? "0.25" : "0.75");
    await site.done(page);
  });

  test("brings what belongs to others, which is left out with a count", async (t) => {
    const page = await site.open();
    const modules = Object.fromEntries(
      Array.from({ length: 30 }, (_, at) => [`node_modules/p${at}/package.json`, `{"name":"p${at}"}`]),
    );
    const folder = project(t, {
      ...modules,
      "package.json": '{"name":"mine"}',
      "tsconfig.json": '{"compilerOptions":{}}',
      "evals/weather.evalset.json": read("weather", "weather.evalset.json"),
      "evals/weather.actual.json": read("weather", "weather.actual.json"),
    });
    await page.getByLabel("Choose a folder").setInputFiles(folder);
    await page
      .getByText("2 files were added. 2 other JSON files are not part of an evaluation and were left out.")
      .waitFor();
    assert.equal(await page.getByRole("button", { name: /^Remove (?!all)/ }).count(), 2);
    await site.done(page);
  });

  test("is scored as far as it is complete", async (t) => {
    const page = await site.open();
    const folder = project(t, {
      "weather.evalset.json": read("weather", "weather.evalset.json"),
      "weather.actual.json": read("weather", "weather.actual.json"),
      "later.evalset.json": evalSetOf("later", "not_run_yet"),
    });
    await page.getByLabel("Choose a folder").setInputFiles(folder);
    await page.getByText("Left out: later.evalset.json has no agent run yet.").waitFor();
    await page.getByRole("button", { name: "Score 5 cases" }).click();
    await page.waitForURL("**/#/results");
    await page.getByText(/^5 cases$/).waitFor();
    await site.done(page);
  });

  test("is not lost when an example takes its place", async (t) => {
    const page = await site.open();
    const folder = project(t, {
      "weather.evalset.json": evalSetOf("mine", "my_case"),
      "weather.actual.json": runOf("mine", "my_case"),
      "test_config.json": '{ "criteria": { "response_match_score": 0.123 } }',
    });
    await page.getByLabel("Choose a folder").setInputFiles(folder);
    await page.getByText("3 files were added.").waitFor();
    await page.getByRole("button", { name: "Weather: Score it" }).click();
    await page.waitForURL("**/#/results");
    await page.getByRole("link", { name: "Files" }).click();
    await page.getByText("Your 3 files were removed.").waitFor();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByText("Your files are back.").waitFor();
    await page.getByRole("button", { name: "Score 1 case", exact: true }).click();
    await page.waitForURL("**/#/results");
    await page.getByText("my_case").first().waitFor();
    await page.getByRole("columnheader", { name: /0\.123/ }).waitFor();
    await page.getByRole("link", { name: "Files" }).click();
    await page.getByRole("button", { name: "Remove all files" }).click();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByRole("button", { name: "Score 1 case", exact: true }).waitFor();
    await site.done(page);
  });

  test("can be dropped beside the drop zone, and on any screen", async () => {
    const page = await site.open({ at: "#/criteria" });
    await page.getByRole("heading", { level: 1 }).waitFor();
    const prevented = await page.evaluate(
      (text) => {
        const data = new DataTransfer();
        data.items.add(new File([text], "weather.evalset.json"));
        const event = (type) => new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true });
        return ["dragover", "drop"].map((type) => !document.querySelector("main").dispatchEvent(event(type)));
      },
      read("weather", "weather.evalset.json"),
    );
    assert.deepEqual(prevented, [true, true]);
    await page.getByText("weather.evalset.json was added.").waitFor();
    await site.done(page);
  });
});
