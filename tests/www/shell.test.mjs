// What holds on every screen: the way through, colours, policy, offline.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CHROMIUM } from "../../scripts/chromium.mjs";
import { becomes, playground, skip, violations } from "./support.mjs";

describe("the shell of the playground", { skip }, () => {
  // As users have it: in the browser itself, with the service worker.
  const site = playground({ browser: CHROMIUM, serviceWorkers: "allow" });

  test("leads from step to step, by address and by keyboard", async () => {
    const page = await site.open();
    for (const [name, at] of [
      ["Criteria", "#/criteria"],
      ["Run", "#/run"],
      ["Results", "#/results"],
      ["Compare", "#/compare"],
      ["Files", "#/files"],
    ]) {
      const link = page.getByRole("navigation", { name: "Steps" }).getByRole("link", { name });
      await link.focus();
      await page.keyboard.press("Enter");
      await page.waitForURL(`**/${at}`);
      await page.locator('a[aria-current="page"]', { hasText: name }).waitFor();
      await page.locator("main h1").waitFor();
    }
    await site.done(page);
  });

  test("starts each screen at its top, and goes back to where one was", async () => {
    const page = await site.open({ width: 390, height: 600 });
    const place = () => page.evaluate(() => scrollY);
    const link = (name) => page.getByRole("navigation", { name: "Steps" }).getByRole("link", { name, exact: true });
    await page.getByRole("button", { name: /^(?=.*Score it).*Museum guide/ }).click();
    await page.getByRole("grid").waitFor();
    assert.equal(await place(), 0);
    await page.evaluate(() => scrollTo(0, 100));
    await link("Criteria").click();
    await page.getByRole("heading", { level: 1, name: "Criteria" }).waitFor();
    assert.equal(await place(), 0);
    await page.goBack();
    await page.getByRole("grid").waitFor();
    // What stands above may have another height by then.
    await becomes(async () => Math.abs((await place()) - 100) < 50, true);
    await site.done(page);
  });

  test("has nothing that axe finds wrong, in both themes and at 360 px", async () => {
    for (const theme of ["light", "dark"]) {
      for (const width of [360, 1280]) {
        const page = await site.open({ theme, width });
        for (const screen of ["files", "criteria", "run", "results", "compare"]) {
          await page.goto(`${site.origin}/#/${screen}`);
          await page.locator("main h1").waitFor();
          assert.deepEqual(await violations(page), [], `${screen}, ${theme}, ${width} px`);
          const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
          assert.ok(overflow <= 0, `${screen} at ${width} px is ${overflow} px too wide`);
        }
        await site.done(page);
      }
    }
  });

  test("keeps the colours that were chosen", async () => {
    const page = await site.open({ theme: "light" });
    await page.getByLabel("Colours").selectOption("dark");
    const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const dark = await background();
    assert.notEqual(dark, "rgb(255, 255, 255)");
    await page.reload();
    await page.locator("main h1").waitFor();
    assert.equal(await background(), dark);
    await site.done(page);
  });

  test("scores an example with few requests: no other screen, editor or format is loaded for it", async () => {
    const page = await site.open({ serviceWorkers: "block" });
    const asked = new Set();
    page.on("request", (request) => asked.add(new URL(request.url()).pathname));
    await page.reload();
    await page.getByRole("button", { name: "Weather: Score it" }).click();
    await page.locator('[role="gridcell"]').first().waitFor();
    // What keeps the results for a reload, and what lists the tools to filter them by, come after them.
    const first = [...asked].filter((path) => !/\/(?:opening|studying|shown)-/.test(path));
    assert.ok(first.length <= 8, first.join("\n"));
    await site.done(page);
  });

  test("works without a network once it was loaded", async () => {
    const page = await site.open();
    await page.evaluate(async () => {
      await navigator.serviceWorker.ready;
    });
    await page.reload();
    await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
    await page.context().setOffline(true);
    await page.reload();
    await page.locator("main h1").waitFor();
    await page.getByRole("link", { name: "Results" }).click();
    await page.waitForURL("**/#/results");
    await site.done(page);
  });

  test("keeps its policy where the service worker serves it, whose caches are its own", async () => {
    const page = await site.open();
    const controlled = async () => {
      await page.evaluate(() => navigator.serviceWorker.ready);
      await page.reload();
      await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
    };
    await controlled();
    // What another program at the same origin has, and what it would answer with.
    const foreign = ["site-0123456789abcdef", "adk-metrics playground http://localhost/elsewhere/ 0123456789abcdef"];
    await page.evaluate(async (names) => {
      for (const name of names) {
        const cache = await caches.open(name);
        for (const path of ["./", "./icon.svg", "./other.txt"])
          await cache.put(path, new Response("of another program"));
      }
      await (await navigator.serviceWorker.ready).unregister();
      for (const name of await caches.keys()) if (!names.includes(name)) await caches.delete(name);
    }, foreign);
    await page.reload();
    await controlled();
    const response = await page.reload();
    assert.ok(response.fromServiceWorker());
    assert.match(response.headers()["content-security-policy"] ?? "", /frame-ancestors 'none'/);
    // The page starts its worker after it was loaded.
    const loaded = await page.waitForFunction(() =>
      performance
        .getEntriesByType("resource")
        .map(({ name }) => name)
        .find((name) => /\/assets\/(?:engine|worker)[^/]*\.js$/.test(name)),
    );
    const worker = await loaded.jsonValue();
    const found = await page.evaluate(
      async ([names, worker]) => {
        const policyOf = async (address) => (await fetch(address)).headers.get("content-security-policy");
        return {
          kept: await Promise.all(names.map((name) => caches.has(name))),
          own: (await caches.keys()).length - names.length,
          icon: await (await fetch("./icon.svg")).text(),
          other: (await fetch("./other.txt")).status,
          worker: await policyOf(worker),
        };
      },
      [foreign, worker],
    );
    assert.deepEqual(found.kept, [true, true]);
    assert.equal(found.own, 1);
    assert.match(found.icon, /<svg/);
    assert.equal(found.other, 404);
    assert.match(found.worker ?? "", /script-src 'self'/);
    page.mistakes = page.mistakes.filter((text) => !/404/.test(text));
    await site.done(page);
  });

  test("says what is missing without JavaScript, and in a browser that is too old", async () => {
    const without = await site.open({ javaScriptEnabled: false });
    assert.match(await without.locator("noscript").innerText(), /needs JavaScript/);
    await without.context().close();
    const page = await site.open();
    assert.equal(await page.locator("#unfit").isVisible(), false);
    await page.addInitScript(() => {
      delete globalThis.DecompressionStream;
    });
    await page.goto("about:blank");
    await page.goto(site.origin);
    await page.getByText(/This browser is too old for the playground, it lacks: decompression\./).waitFor();
    await site.done(page);
  });

  test("says so where a part of it cannot be loaded, and goes on with the others", async () => {
    const page = await site.open({ serviceWorkers: "block" });
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.route(/\/assets\/compare-[\w-]+\.js$/, (route) => route.abort());
    await page.getByRole("link", { name: "Compare" }).click();
    await page.getByText("This part could not be loaded. Reload the page.").waitFor();
    await page.getByRole("link", { name: "Criteria" }).click();
    await page.getByRole("heading", { level: 1, name: "Criteria" }).waitFor();
    page.mistakes = page.mistakes.filter((text) => !/Failed to load resource/.test(text));
    await site.done(page);
  });

  test("can be installed", async () => {
    const page = await site.open();
    const href = await page.locator('link[rel="manifest"]').getAttribute("href");
    const manifest = await (await page.request.get(`${site.origin}/${href}`)).json();
    assert.equal(manifest.display, "standalone");
    for (const { src } of manifest.icons) assert.ok((await page.request.get(`${site.origin}/${src}`)).ok(), src);
    await site.done(page);
  });

  test("runs under a policy that allows no script of anyone else", async () => {
    const page = await site.open();
    const meta = page.locator('meta[http-equiv="Content-Security-Policy"]');
    const policy = await meta.getAttribute("content");
    assert.match(policy, /default-src 'none'/);
    assert.match(policy, /script-src 'self' 'wasm-unsafe-eval';/);
    assert.doesNotMatch(policy, /unsafe-inline|unsafe-eval'.*unsafe-eval|\*/);
    const headers = (await page.request.get(site.origin)).headers();
    assert.match(headers["content-security-policy"], /frame-ancestors 'none'/);
    assert.equal(headers["x-content-type-options"], "nosniff");
    await site.done(page);
  });
});
