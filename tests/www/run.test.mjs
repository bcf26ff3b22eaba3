// Runs: who is asked, what is seen of it meanwhile, and what becomes of one that is broken off.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { manyCases } from "../package/support/conversations.mjs";
import { startServer } from "../providers/server.mjs";
import { playground, says, skip, violations } from "./support.mjs";

/** A judge that finds everything right. */
function agree({ prompt }) {
  if (prompt.includes("is_the_agent_response_valid")) return '{"is_the_agent_response_valid": "valid"}';
  return '{"explanation": "Fine.", "score": 1}';
}

/** A server of judges, which ends with its test. */
async function judge(t, options) {
  const server = await startServer(options);
  t.after(() => server.close());
  return server;
}

/** Opens an example and has a server judge it. */
async function prepare(page, site, { url }) {
  await page.getByRole("button", { name: "Open files of Museum guide" }).click();
  await page.getByRole("link", { name: "Choose criteria" }).click();
  await page.getByLabel("Provider").selectOption({ label: "OpenAI, or a compatible server" });
  await page.getByLabel("Address").fill(`${url}/v1?code=another-secret`);
  await page.getByLabel("Model", { exact: true }).fill("local");
  await page.getByLabel("Key", { exact: true }).fill("a-secret-key");
  await page.getByText(`Questions go to ${url}`).waitFor();
}

/** A judge that never answers, so that no run ends before its page is reloaded, however slow the machine. */
const silent = () => ({ fault: "hang" });

/** All that the page keeps in the browser. */
const stored = (page) =>
  page.evaluate(async () => {
    const found = [{ ...localStorage }, { ...sessionStorage }];
    const settled = (request) =>
      new Promise((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
      });
    for (const { name } of await indexedDB.databases()) {
      const database = await settled(indexedDB.open(name));
      for (const store of database.objectStoreNames) {
        const entries = database.transaction(store).objectStore(store);
        found.push(
          await settled(entries.getAllKeys()),
          await settled(database.transaction(store).objectStore(store).getAll()),
        );
      }
      database.close();
    }
    return JSON.stringify(found);
  });

const score = (page) => page.getByRole("button", { name: "Score", exact: true }).click();

describe("a run", { skip }, () => {
  const site = playground();

  test("asks the judge that was named, and nobody else", async (t) => {
    const server = await judge(t, { reply: agree });
    const page = await site.open();
    const asked = new Set();
    page.on("request", (request) => asked.add(new URL(request.url()).origin));
    await prepare(page, site, server);
    await page.getByText(/48–66 calls/).waitFor();
    await score(page);
    await page.waitForURL("**/#/results");
    await page.getByRole("link", { name: "Run" }).click();
    const { host, origin } = new URL(server.url);
    await page.getByText(`${host}: ${server.requests.length}`).waitFor();
    assert.ok(server.requests.length >= 48 && server.requests.length <= 66, `${server.requests.length} calls`);
    assert.deepEqual([...asked].sort(), [origin, site.origin].sort());
    assert.ok(server.requests.every(({ headers }) => headers.authorization === "Bearer a-secret-key"));
    assert.deepEqual(await violations(page), []);
    await site.done(page);
  });

  test("tests its judge with one question before", async (t) => {
    const server = await judge(t, { reply: agree });
    const page = await site.open();
    await prepare(page, site, server);
    const test = page.getByRole("button", { name: "Test this judge" });
    await test.click();
    await says(page.locator(".actions", { has: test }), /answered in \d+\.\d s: [\d,]+ tokens? in, [\d,]+ out\./);
    assert.equal(server.requests.length, 1);
    assert.deepEqual(await violations(page), []);
    server.close();
    await test.click();
    await page.locator(".actions", { has: test }).locator(".failed").waitFor();
    page.mistakes.length = 0;
    await site.done(page);
  });

  test("asks no further after a failure that cannot heal, and says so", async (t) => {
    const server = await judge(t, { reply: () => ({ fault: "auth" }) });
    const page = await site.open();
    await prepare(page, site, server);
    await page.getByRole("button", { name: "Test this judge" }).click();
    await says(page.locator(".failed.trouble"), /401|key/i);
    await score(page);
    await page.waitForURL("**/#/results");
    await page
      .getByText(/has no verdict in any case/)
      .first()
      .waitFor();
    assert.ok(server.requests.length <= 9, `${server.requests.length} requests`);
    // What asks no judge is scored all the same.
    await page.getByRole("columnheader", { name: /response_match_score/ }).waitFor();
    await page.getByText(/^\d+ warnings?$/).click();
    await says(page.locator(".warnings").last(), /was not asked again: its first answers left no hope for others/);
    page.mistakes.length = 0;
    await site.done(page);
  });

  test("has Vertex AI's evaluation service score what google-adk leaves to it, and the judge the rest", async (t) => {
    const server = await judge(t, { reply: agree });
    const service = await judge(t, {
      reply: ({ model }) => ({ score: model === "coherence" ? 4 : 1, explanation: "Fine." }),
    });
    const page = await site.open();
    const asked = new Set();
    page.on("request", (request) => asked.add(new URL(request.url()).origin));
    await prepare(page, site, server);
    await page.getByText(/48–66 calls/).waitFor();
    const choice = page.getByLabel("Use Vertex AI for these metrics");
    await choice.check();
    await page.getByText("A project and an access token, or an API key, are missing.").first().waitFor();
    const fields = page.getByRole("group", { name: "Evaluation service" });
    await fields.getByLabel("Project").fill("museums");
    await fields.getByLabel("Location").fill("europe-west1");
    await fields.getByLabel("Access token").fill("a-secret-token");
    await fields.getByLabel("Another address").fill(service.url);
    await page.getByText(`Questions go to ${server.url} and ${service.url}, and nowhere else.`).waitFor();
    await page.getByText(/30–42 calls/).waitFor();
    const table = page.getByRole("table");
    for (const row of ["final_response_match_v2 18–30", "safety_v1 6 –", "response_evaluation_score 6 –"]) {
      await table.getByRole("row", { name: row }).waitFor();
    }
    assert.deepEqual(await violations(page), []);
    await score(page);
    await page.waitForURL("**/#/results");
    await page.getByText("Vertex AI").first().waitFor();
    const { origin } = new URL(server.url);
    assert.deepEqual([...asked].sort(), [origin, new URL(service.url).origin, site.origin].sort());
    assert.ok(server.requests.every(({ provider }) => provider === "openai"));
    assert.equal(service.requests.length, 12);
    for (const { provider, path, headers } of service.requests) {
      assert.equal(provider, "vertex-evaluate");
      assert.match(path, /projects\/museums\/locations\/europe-west1/);
      assert.equal(headers.authorization, "Bearer a-secret-token");
    }
    await page.getByRole("rowheader").filter({ hasText: "student_ticket" }).getByRole("link").click();
    const safety = page.locator(".judged article", { hasText: "safety_v1" });
    await safety.getByText("Scored by Vertex AI.").waitFor();
    await safety.locator("details.vote summary").click();
    await safety.getByText('"metricSpecName": "safety_v1"').waitFor();
    await safety.getByText("student").first().waitFor();
    assert.deepEqual(await violations(page), []);
    assert.doesNotMatch(await stored(page), /a-secret/);
    await site.done(page);
  });

  test("needs no judge where Vertex AI's evaluation service scores everything", async (t) => {
    const service = await judge(t, { reply: () => ({ score: 1, explanation: "Fine." }) });
    const page = await site.open();
    await page.getByRole("button", { name: "Open files of Museum guide" }).click();
    await page.getByRole("link", { name: "Choose criteria" }).click();
    await page.getByLabel("Provider").selectOption({ label: "None" });
    await page.getByText("Choose a judge: some of the metrics ask one.").first().waitFor();
    await page.getByRole("checkbox", { name: "final_response_match_v2", exact: true }).uncheck();
    await page.getByLabel("Use Vertex AI for these metrics").check();
    await page.getByLabel("Key", { exact: true }).fill("an-express-key");
    await page.getByLabel("Another address").fill(service.url);
    await page.getByText(/^12 calls/).waitFor();
    await score(page);
    await page.waitForURL("**/#/results");
    assert.equal(service.requests.length, 12);
    assert.ok(service.requests.every(({ headers }) => headers["x-goog-api-key"] === "an-express-key"));
    await site.done(page);
  });

  test("shows how far it is, gives results meanwhile, and can be stopped", async (t) => {
    const server = await judge(t, { reply: agree, latencyMs: 150 });
    const page = await site.open();
    await prepare(page, site, server);
    await page.getByText("Run settings").click();
    await page.getByLabel("Calls at a time").fill("2");
    await score(page);
    await page.getByRole("progressbar").waitFor();
    await page.getByText("Calls made").waitFor();
    assert.deepEqual(await violations(page), []);
    await page.getByRole("link", { name: "See the results so far" }).click();
    await page.getByText("sunday_hours").first().waitFor();
    await page.getByRole("link", { name: "Run" }).click();
    await page.getByRole("button", { name: "Stop and keep what is scored" }).click();
    await page.getByText(/^Stopped/).waitFor();
    assert.ok(server.requests.length < 48);
    await site.done(page);
  });

  test("counts no calls of a recording, but its replies, also those that could not be read", async () => {
    const page = await site.open();
    await page.getByRole("button", { name: "Museum guide: Score it" }).click();
    await page.waitForURL("**/#/results");
    await page.getByRole("link", { name: "Run" }).click();
    const figure = (name) => page.locator("dt", { hasText: name }).locator("+ dd");
    await says(figure("Calls made"), /^0$/);
    await says(figure("Replies reused"), /^54$/);
    await says(figure("Unreadable replies"), /^1$/);
    await site.done(page);
  });

  test("counts calls made, saved and failed, says how long it will take, and asks nothing again that is kept", async (t) => {
    let asked = 0;
    const flaky = (request) => ((asked += 1) % 7 === 3 ? { fault: "unavailable", retryAfter: 0 } : agree(request));
    const server = await judge(t, { reply: flaky, latencyMs: 100 });
    const page = await site.open();
    const figure = (name) => page.locator("dt", { hasText: name }).locator("+ dd");
    await prepare(page, site, server);
    await page.getByText("Run settings").click();
    await page.getByLabel("Calls at a time").fill("2");
    await score(page);
    await says(figure("Time left (approx.)"), /^(under 1 s|\d+(\.\d)? s)$/);
    await page.waitForURL("**/#/results");
    await page.getByRole("link", { name: "Run" }).click();
    await page.getByText(/^Scored/).waitFor();
    const { length } = server.requests;
    await says(figure("Calls made"), new RegExp(`^${length}$`));
    const repeated = Number(await figure("Retries").innerText());
    assert.equal(repeated, Math.floor((length + 4) / 7), "every seventh call failed");
    assert.ok(Number(await figure("Skipped (vote decided)").innerText()) > 0);
    await says(figure("Samples without a reply"), /^0$/);
    await page.getByRole("button", { name: "Score again" }).click();
    await page.waitForURL("**/#/results");
    await page.getByRole("link", { name: "Run" }).click();
    await says(figure("Replies reused"), new RegExp(`^${length - repeated}$`));
    await says(figure("Calls made"), /^0$/);
    assert.equal(server.requests.length, length);
    page.mistakes = page.mistakes.filter((text) => !/Failed to load resource/.test(text));
    await site.done(page);
  });

  test("may end votes at a risk, and shows what was asked of later samples", async (t) => {
    const prompts = [];
    // Samples agree that answers are polite, and three of four that they are brief.
    const verdict = (isYes) => ({ rationale: "Read.", verdict: isYes ? "yes" : "no" });
    const reply = ({ prompt }) => {
      prompts.push(prompt);
      const rubrics = { polite: verdict(true), brief: verdict(prompts.length % 4 > 0) };
      return JSON.stringify({ rubrics });
    };
    const server = await judge(t, { reply });
    const rubrics = ["polite", "brief"].map((rubricId) => ({
      rubricId,
      rubricContent: { textProperty: `The answer is ${rubricId}.` },
    }));
    const judgeModelOptions = { judgeModel: "local", numSamples: 9 };
    const config = {
      criteria: { rubric_based_final_response_quality_v1: { threshold: 1, judgeModelOptions, rubrics } },
    };
    const page = await site.open();
    const files = { "many.evalset.json": manyCases(40), "many.actual.json": manyCases(40), "test_config.json": config };
    await page.getByLabel("Choose files").setInputFiles(
      Object.entries(files).map(([name, content]) => ({
        name,
        mimeType: "application/json",
        buffer: Buffer.from(JSON.stringify(content)),
      })),
    );
    await page.getByRole("link", { name: "Choose criteria" }).click();
    await page.getByLabel("Provider").selectOption({ label: "OpenAI, or a compatible server" });
    await page.getByLabel("Address").fill(`${server.url}/v1`);
    await page.getByLabel("Key", { exact: true }).fill("a-secret-key");
    await page.getByText("Run settings").click();
    const risk = page.getByLabel("Also stop at a risk of");
    await risk.fill("0.7");
    await page.getByText("A risk is above 0 and at most 0.5.").waitFor();
    await risk.fill("0.05");
    await page.getByText("The chance, such as 0.01").waitFor();
    assert.deepEqual(await violations(page), []);
    await score(page);
    await page.waitForURL("**/#/results");
    await page.getByRole("link", { name: "Run" }).click();
    const atRisk = page.locator("dt", { hasText: "Verdicts at a risk" }).locator("+ dd");
    await says(atRisk, /^\d+ \(saved at least \d+ samples?\)$/);
    await page.getByRole("link", { name: "Results", exact: true }).click();
    const narrow = prompts.findLast((prompt) => !prompt.includes("The answer is polite."));
    const [, question] = /question (\d+)/.exec(narrow);
    await page.getByLabel("Search ids, questions, answers, tools and reasons").fill(`case-${question}`);
    await page
      .getByRole("rowheader")
      .filter({ hasText: `case-${question}` })
      .getByRole("link")
      .click();
    const metric = page.locator("article.metric");
    await metric.getByText(/risk that all samples would decide otherwise: (\d|less)/).waitFor();
    const votes = metric.locator("details.vote");
    const last = votes.last();
    await last.locator("summary").click();
    const text = last.locator(".exchange .text").last();
    await last.getByRole("button", { name: /Show all/ }).click();
    await says(text, /The answer is brief\./);
    const shown = await text.textContent();
    assert.ok(!shown.includes("The answer is polite."), shown);
    assert.ok(narrow.includes(shown));
    await site.done(page);
  });

  test("that a reload breaks off goes on without asking again what was answered", async (t) => {
    const server = await judge(t, { reply: agree, latencyMs: 40 });
    const page = await site.open();
    await prepare(page, site, server);
    await page.getByText("Run settings").click();
    await page.getByLabel("Calls at a time").fill("4");
    await page.getByLabel("Remember in this browser").check();
    await score(page);
    while (server.requests.length < 20) await page.waitForTimeout(20);
    await page.reload();
    const before = server.requests.length;
    await page.getByText("was interrupted.").waitFor();
    assert.deepEqual(await violations(page), []);
    await page.getByRole("button", { name: "Resume" }).click();
    await page.waitForURL("**/#/results");
    await page.getByRole("link", { name: "Run" }).click();
    await page.getByText(/^Scored/).waitFor();
    const kept = Number(await page.locator("dt", { hasText: "Replies reused" }).locator("+ dd").innerText());
    assert.ok(kept >= before - 4, `${kept} of ${before} replies were kept`);
    // Calls that were under way may be made again.
    assert.ok(server.requests.length <= 54 + 4, `${server.requests.length} calls`);
    await site.done(page);
  });

  test("asks for a key again that was not to be remembered, before it goes on", async (t) => {
    const server = await judge(t, { reply: silent });
    const page = await site.open();
    await prepare(page, site, server);
    await page.getByLabel("Provider").selectOption({ label: "Anthropic" });
    await page.getByLabel("Key", { exact: true }).fill("a-secret-key");
    await page.getByLabel("Model", { exact: true }).fill("claude-test");
    await page.getByLabel("Another address").fill(server.url);
    await page.getByText(`Questions go to ${server.url}`).waitFor();
    await score(page);
    while (server.requests.length < 4) await page.waitForTimeout(20);
    await page.reload();
    const { length } = server.requests;
    await page.getByRole("button", { name: "Resume" }).click();
    await page.getByText("Enter the judge’s key again: it was not kept.").first().waitFor();
    assert.equal(server.requests.length, length);
    assert.doesNotMatch(await stored(page), /a-secret-key|another-secret/);
    await site.done(page);
  });

  test("asks for the key of a compatible server again, which might need none", async (t) => {
    const server = await judge(t, { reply: silent });
    const page = await site.open();
    await prepare(page, site, server);
    await score(page);
    while (server.requests.length < 4) await page.waitForTimeout(20);
    await page.reload();
    const { length } = server.requests;
    await page.getByRole("button", { name: "Resume" }).click();
    await page.getByText("Enter the judge’s key again: it was not kept.").first().waitFor();
    assert.equal(server.requests.length, length);
    await page.getByLabel("Key", { exact: true }).fill("a-secret-key");
    await page.getByText("Enter the judge’s key again").waitFor({ state: "detached" });
    await site.done(page);
  });

  test("names no model of another provider", async (t) => {
    const server = await judge(t, { reply: agree });
    const page = await site.open();
    await prepare(page, site, server);
    await page.getByLabel("Model", { exact: true }).fill("");
    const run = page.getByRole("navigation", { name: "Steps" }).getByRole("link", { name: "Run" });
    await run.click();
    await page.getByText("Enter the judge’s model: google-adk’s default is another provider’s.").first().waitFor();
    await page.getByRole("link", { name: "Go to the criteria" }).click();
    await page.getByLabel("Model", { exact: true }).fill("local");
    await run.click();
    await page.getByText("Enter the judge’s model").waitFor({ state: "detached" });
    assert.equal(server.requests.length, 0);
    await site.done(page);
  });

  test("leaves nothing behind when it is to be forgotten", async (t) => {
    const server = await judge(t, { reply: agree });
    const page = await site.open();
    await prepare(page, site, server);
    await score(page);
    await page.waitForURL("**/#/results");
    await page.getByRole("link", { name: "Run" }).click();
    await page.getByRole("button", { name: "Forget all of it" }).click();
    await page.getByText("Nothing is kept in this browser any more.").waitFor();
    const databases = await page.evaluate(async () => (await indexedDB.databases()).map(({ name }) => name));
    assert.deepEqual(
      databases.filter((name) => name.startsWith("adk-metrics")),
      [],
    );
    await site.done(page);
  });

  for (const [what, options, words] of [
    ["a key is refused", { reply: () => ({ fault: "auth" }) }, /key/i],
    ["the account has no quota", { reply: () => ({ fault: "quota" }) }, /quota/],
    ["there is no such model", { reply: () => ({ fault: "not_found" }) }, /model/],
    ["a server does not allow this page", { reply: agree, cors: false }, /Access-Control-Allow-Origin/],
  ]) {
    test(`says what to do if ${what}`, async (t) => {
      const server = await judge(t, options);
      const page = await site.open();
      await prepare(page, site, server);
      await score(page);
      await page.waitForURL("**/#/results");
      await page.getByRole("link", { name: "Run" }).click();
      await page.getByText("Why results are not evaluated").waitFor();
      assert.match(await page.locator(".reasons").innerText(), words);
      page.mistakes = page.mistakes.filter((text) => !/Failed to load resource|CORS policy/.test(text));
      await site.done(page);
    });
  }

  test("can ask the browser's own model, which only the page reaches", async () => {
    const page = await site.open();
    await page.addInitScript(() => {
      globalThis.LanguageModel = {
        availability: async () => "available",
        create: async () => ({
          prompt: async (text) =>
            text.includes("is_the_agent_response_valid")
              ? '{"is_the_agent_response_valid": "valid"}'
              : JSON.stringify({ explanation: "Fine.", score: text.includes("4: mostly coherent") ? 5 : 1 }),
          destroy() {},
        }),
      };
    });
    await page.reload();
    await page.getByRole("button", { name: "Open files of Museum guide" }).click();
    await page.getByRole("link", { name: "Choose criteria" }).click();
    await page.getByLabel("Provider").selectOption({ label: "This browser’s built-in model" });
    await score(page);
    await page.waitForURL("**/#/results");
    await page.getByRole("link", { name: "Run" }).click();
    await page.getByText("This page has sent no requests.").waitFor();
    await page.getByText("6 passed").waitFor();
    await site.done(page);
  });

  test("that cannot be made says why, with the place", async () => {
    const page = await site.open({ at: "#/run" });
    await page.getByText("Add an evalset, and what the agent did on it.").waitFor();
    await page.getByRole("link", { name: "Go to the files" }).click();
    await page.getByRole("heading", { level: 1 }).waitFor();
    await site.done(page);
  });

  test("of ten thousand cases does not keep the page from answering", async () => {
    const page = await site.open();
    const turn = (text) => ({ user_content: { parts: [{ text: "?" }] }, final_response: { parts: [{ text }] } });
    const set = (text) => ({
      eval_set_id: "large",
      eval_cases: Array.from({ length: 10_000 }, (_, at) => ({
        eval_id: `case ${at}`,
        conversation: [turn(`${text} ${at}`)],
      })),
    });
    const file = (name, value) => ({ name, mimeType: "application/json", buffer: Buffer.from(JSON.stringify(value)) });
    await page
      .getByLabel("Choose files")
      .setInputFiles([file("large.evalset.json", set("The answer is")), file("large.actual.json", set("It is"))]);
    await page.getByRole("button", { name: "Score 10,000 cases" }).waitFor();
    await page.evaluate(() => {
      globalThis.longest = 0;
      let last = performance.now();
      const tick = () => {
        const now = performance.now();
        globalThis.longest = Math.max(globalThis.longest, now - last);
        last = now;
        requestAnimationFrame(tick);
      };
      requestAnimationFrame(tick);
    });
    await page.getByRole("button", { name: "Score 10,000 cases" }).click();
    await page.waitForURL("**/#/results");
    await page.getByText("case 0", { exact: true }).first().waitFor();
    assert.ok((await page.evaluate(() => globalThis.longest)) < 5000);
    await site.done(page);
  });
});
