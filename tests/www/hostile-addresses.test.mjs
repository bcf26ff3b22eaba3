// Addresses and files dropped on a page that nobody has vetted: they lead to a screen, run nothing and ask nobody.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertHarmless, ELSEWHERE, hostileResults, MARKUP, OWN, watched } from "./hostile.mjs";
import { showing } from "./scored.mjs";
import { playground, skip, violations } from "./support.mjs";

describe("hostile addresses and files that are dropped", { skip }, () => {
  const site = playground({ serviceWorkers: "allow" });

  test("lead to a screen, run nothing and ask nobody", async () => {
    const page = await showing(site, await hostileResults());
    const did = watched(page);
    const places = [
      "-1",
      "1e9",
      "0.5",
      "NaN",
      "__proto__",
      "constructor",
      "%00",
      "%E0%A4%A",
      "..%2F..%2F",
      "javascript:1",
    ];
    const screens = [
      "files",
      "criteria",
      "run",
      "results",
      "compare",
      "case",
      "edit",
      "__proto__",
      "constructor",
      "nowhere",
    ];
    const own = [
      MARKUP,
      `javascript:${OWN}`,
      `data:text/html,<script>${OWN}</script>`,
      `//${ELSEWHERE.slice(7)}`,
      "%",
      "x".repeat(1e6),
    ];
    const addresses = [
      ...screens.flatMap((screen) => places.map((place) => `#/${screen}/${place}`)),
      ...[...own, ...places].flatMap((text) => [`#${text}`, `#/edit/0/${text}/${text}`, `#/case/0/${text}`]),
      ...["", "%00", "AAAA", "=".repeat(1e6), MARKUP, "__proto__"].map((text) => `#run=${text}`),
    ];
    for (const address of addresses) {
      await page.evaluate((hash) => (location.hash = hash), address);
      await page.locator("main h1, main h2, main p").first().waitFor();
      await assertHarmless(page, did, address.slice(0, 100));
    }
    assert.equal(new URL(page.url()).origin, site.origin);
    await site.done(page);
  });

  test("are files with names that are text, links that lead nowhere, and pages that are not opened", async () => {
    const page = await site.open();
    const did = watched(page);
    await page.evaluate(
      ({ names, elsewhere }) => {
        const zone = document.querySelector(".drop");
        const drop = (fill) => {
          const data = new DataTransfer();
          fill(data);
          for (const type of ["dragover", "drop"]) {
            zone.dispatchEvent(new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }));
          }
        };
        for (const name of names)
          drop((data) => data.items.add(new File(["<script>__owned=1</script>"], name, { type: "text/html" })));
        drop((data) => data.setData("text/html", "<img src=x onerror=__owned=1>"));
        drop((data) => data.setData("text/uri-list", `${elsewhere}/x.json`));
        drop((data) => data.setData("text/plain", `javascript:__owned=1`));
        drop((data) => data.setData("text/plain", '{"__proto__":{"polluted":true},"eval_set_id":"x","eval_cases":[]}'));
      },
      {
        names: [
          `${MARKUP.replaceAll("/", "")}.json`,
          "page.html",
          "../../x.json",
          "__proto__",
          "a\u0000b.json",
          "x".repeat(5000),
        ],
        elsewhere: ELSEWHERE,
      },
    );
    await page
      .getByRole("button", { name: /^Remove (?!all)/ })
      .first()
      .waitFor();
    await page.waitForTimeout(300);
    await assertHarmless(page, did, "dropped");
    // What is said of the file that was read last depends on when each was.
    await page.evaluate(
      (name) => {
        const data = new DataTransfer();
        data.items.add(new File(["{}"], name));
        const drop = new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true });
        document.querySelector(".drop").dispatchEvent(drop);
      },
      `${"y".repeat(5000)}.json`,
    );
    await page.getByText(/^y+\.json was added/).waitFor();
    await assertHarmless(page, did, "one of them");
    assert.deepEqual(await violations(page), []);
    await site.done(page);
  });
});
