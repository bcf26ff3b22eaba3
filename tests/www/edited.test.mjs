// What was made or changed here and is no file yet: marked, and warned of, after a reload too.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { areKept, becomes, example, keptRecords, playground, skip } from "./support.mjs";

/** Whether the browser would ask before the page is left. */
const isWarned = (page) =>
  page.evaluate(() => !globalThis.dispatchEvent(new Event("beforeunload", { cancelable: true })));

/** Waits until as many files are kept as edited ones. */
const areEdited = (page, number) =>
  becomes(async () => (await keptRecords(page)).files?.filter(({ isEdited }) => isEdited).length, number);

const MARK = "not saved as a file";

/** Keeps settings with another text of the config, as they are while a change of its file is not wholly stored. */
async function keepOtherConfig(database) {
  const opening = indexedDB.open(database);
  await new Promise((resolve) => (opening.onsuccess = resolve));
  const change = opening.result.transaction("runs", "readwrite");
  const records = change.objectStore("runs");
  const reading = records.get("settings");
  reading.onsuccess = () => records.put({ ...reading.result, config: '{ "criteria": {} }' }, "settings");
  await new Promise((resolve) => (change.oncomplete = resolve));
  opening.result.close();
}

describe("edits", { skip }, () => {
  const site = playground();

  test("are still warned of after a reload, until they are saved", async () => {
    const page = await site.open();
    page.on("dialog", (dialog) => void dialog.accept());
    await page.getByRole("button", { name: "Open files of Weather" }).click();
    await page.getByRole("link", { name: "weather.evalset.json" }).click();
    await areKept(page, "files", "settings");
    await page.locator(".cm-content").click();
    await page.keyboard.press("Control+Home");
    await page.keyboard.type(" ");
    await page.getByText(MARK).waitFor();
    await areEdited(page, 1);
    await page.goto(`${site.origin}/#/files`);
    await page.reload();
    await page.locator(".line", { hasText: "weather.evalset.json" }).getByText(MARK).waitFor();
    assert.equal(await page.getByText(MARK).count(), 1);
    assert.equal(await isWarned(page), true);
    await page.getByRole("link", { name: "weather.evalset.json" }).click();
    await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Save as a file" }).click()]);
    await page.getByText(MARK).waitFor({ state: "detached" });
    assert.equal(await isWarned(page), false);
    await areEdited(page, 0);
    await page.reload();
    await page.locator(".cm-content").waitFor();
    assert.equal(await isWarned(page), false);
    await site.done(page);
  });

  test("of criteria are those of their file, after a reload too", async () => {
    const page = await site.open();
    page.on("dialog", (dialog) => void dialog.accept());
    await page.getByLabel("Choose files").setInputFiles([example("shop-assistant", "test_config.json")]);
    await page.getByText("test_config.json was added.").waitFor();
    await page.getByRole("link", { name: "Criteria", exact: true }).click();
    const box = page.getByRole("checkbox", { name: "tool_parameter_match", exact: true });
    // It is known whose the criteria are. A reload finds them in the file, even if it comes before the settings are kept.
    await becomes(async () => (await keptRecords(page)).settings?.activeConfig, 0);
    await box.uncheck();
    await areEdited(page, 1);
    await page.reload();
    await box.and(page.locator(":not(:checked)")).waitFor();
    await box.check();
    const text = async () => {
      const [file] = (await keptRecords(page)).files;
      return "tool_parameter_match" in JSON.parse(new TextDecoder().decode(file.bytes)).criteria;
    };
    await becomes(text, true);
    await becomes(async () => (await keptRecords(page)).settings.config.includes("tool_parameter_match"), true);
    await page.evaluate(keepOtherConfig, "adk-metrics-playground");
    await page.reload();
    await box.and(page.locator(":checked")).waitFor();
    assert.equal(await text(), true);
    await site.done(page);
  });

  test("that make an evalset are warned of", async () => {
    const page = await site.open();
    page.on("dialog", (dialog) => void dialog.accept());
    await page.getByLabel("Choose files").setInputFiles(example("phrasebook", "phrasebook.session.json"));
    await page.getByRole("link", { name: /^Make an evalset/ }).click();
    await page.locator(".draft-case").first().waitFor();
    await page.getByRole("button", { name: /^Make an evalset of/ }).click();
    await page.getByLabel("Expected answer").first().waitFor();
    assert.equal(await isWarned(page), true);
    await site.done(page);
  });
});
