// Takes the pictures of the playground that docs/playground.md shows, or of every screen to look at.
//
//   npm run build && node scripts/screenshots.mjs                            those of the documentation
//   node scripts/screenshots.mjs --all <folder> [--widths 390,1280,1920] [--themes light,dark] [--screens results,case]

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { CHROMIUM, CHROMIUM_FLAGS } from "./chromium.mjs";
import { paletted } from "./png.mjs";
import { root } from "./setup.mjs";

const { chromium } = createRequire(join(root, "package.json"))("playwright-core");

const { values } = parseArgs({
  options: {
    all: { type: "string" },
    widths: { type: "string", default: "390,1280,1920" },
    themes: { type: "string", default: "light,dark" },
    screens: { type: "string" },
  },
});

const settled = (page) => page.waitForTimeout(300);

async function scored(page, example) {
  await page.getByRole("button", { name: new RegExp(`^(?=.*Score it).*${example}`) }).click();
  await page.getByRole("heading", { level: 1, name: "Results" }).waitFor();
  await page.getByRole("grid").waitFor();
}

async function opened(page, example) {
  await page.getByRole("button", { name: new RegExp(`^(?=.*Open files).*${example}`) }).click();
  await page.getByRole("link", { name: "Choose criteria" }).waitFor();
}

async function caseOf(page, example, name) {
  await scored(page, example);
  await page.getByRole("rowheader").filter({ hasText: name }).getByRole("link").click();
  await page.locator(".turn").first().waitFor();
}

const go = (page, screen) =>
  page.getByRole("navigation", { name: "Steps" }).getByRole("link", { name: screen, exact: true }).click();

async function moved(page, metric, keys) {
  const folded = page.locator("details:not([open]) > summary", { hasText: "Scores and thresholds" });
  if (await folded.isVisible()) await folded.click();
  await page.getByRole("slider", { name: `Threshold of ${metric}` }).focus();
  for (const key of keys) await page.keyboard.press(key);
}

/** An evalset with a mistake in it. */
const BROKEN = `{
  "eval_set_id": "orders",
  "eval_cases": [
    {
      "eval_id": "late_order",
      "conversation": [
        { "invocation_id": "1", "user_content": { "parts": [{ "text": 7 }], "role": "user" } }
      ]
    }
  ]
}
`;

/** How each screen is come to. */
const SCREENS = {
  start: async () => {},
  files: (page) => opened(page, "Weather"),
  editor: async (page) => {
    await opened(page, "Weather");
    await page.getByRole("link", { name: "weather.evalset.json" }).click();
    await page.getByRole("textbox", { name: /^The text of/ }).waitFor();
  },
  problem: async (page) => {
    await page.getByRole("button", { name: "Write or paste JSON" }).click();
    await page.getByRole("textbox", { name: /^The text of/ }).fill(BROKEN);
    await page.getByText("cannot be read", { exact: true }).waitFor();
    await page.locator(".cm-lintRange-error, .cm-lint-marker-error").first().waitFor();
  },
  criteria: async (page) => {
    await opened(page, "Museum guide");
    await page.getByRole("link", { name: "Choose criteria" }).click();
    await page.getByText("Estimated judge calls").waitFor();
  },
  json: async (page) => {
    await opened(page, "Museum guide");
    await page.getByRole("link", { name: "Choose criteria" }).click();
    await page.getByRole("link", { name: "JSON", exact: true }).click();
    await page.getByRole("textbox", { name: "The eval config" }).waitFor();
    await page.getByText("Estimated judge calls").waitFor();
  },
  run: async (page) => {
    await scored(page, "Museum guide");
    await go(page, "Run");
    await page.getByText("Estimated by a dry run").waitFor();
  },
  results: (page) => scored(page, "Museum guide"),
  threshold: async (page) => {
    await scored(page, "Museum guide");
    await moved(page, "response_match_score", ["PageUp", "PageUp"]);
    await page.getByRole("heading", { name: /Verdicts flip/ }).waitFor();
  },
  calls: (page) => caseOf(page, "Weather", "two_cities"),
  sentences: (page) => caseOf(page, "Ferry press", "incident"),
  rubrics: (page) => caseOf(page, "Cake orders", "birthday_inscription"),
  events: (page) => caseOf(page, "Travel concierge", "weekend_in_rome"),
  labels: async (page) => {
    await scored(page, "Cake orders");
    await page.getByRole("link", { name: "Label verdicts" }).click();
    for (const key of ["y", "n", "y", "y", "n"]) {
      await page.locator(".label-sides").last().waitFor();
      await page.keyboard.press(key);
    }
    await page.getByText("5 labels").waitFor();
  },
  edit: async (page) => {
    await caseOf(page, "Weather", "two_cities");
    await page.getByRole("link", { name: "Edit the case" }).click();
    await page.getByLabel("Expected answer").first().waitFor();
  },
  compare: async (page) => {
    await scored(page, "Museum guide");
    await go(page, "Files");
    await scored(page, "Museum guide");
    await moved(page, "response_match_score", ["PageUp", "PageUp", "PageUp"]);
    await go(page, "Compare");
    await page.getByRole("group", { name: "Export the comparison" }).waitFor();
  },
  runs: async (page) => {
    await SCREENS.compare(page);
    await page.getByRole("link", { name: "All runs side by side" }).click();
    await page.getByRole("table", { name: "Cases and runs" }).waitFor();
  },
};

/** A picture to take. */
const shot = (screen, width = 1280, theme = "light", name = screen) => ({ screen, width, theme, name: `${name}.png` });

const TOUR = ["start", "problem", "criteria", "run", "results", "calls", "sentences", "rubrics", "edit", "compare"];

/** What the documentation shows: each screen in a usual, a narrow and a wide window, and some in the dark. */
const DOCUMENTED = [
  ...TOUR.map((screen) => shot(screen)),
  shot("calls", 390, "dark", "narrow"),
  shot("results", 1920, "dark", "wide"),
  ...TOUR.flatMap((screen) => [390, 1920].map((width) => shot(screen, width, "light", `widths/${screen}-${width}`))),
];

/** Every screen, to look at. */
function everything() {
  const screens = values.screens?.split(",") ?? Object.keys(SCREENS);
  const widths = values.widths.split(",").map(Number);
  return values.themes
    .split(",")
    .flatMap((theme) =>
      widths.flatMap((width) => screens.map((screen) => shot(screen, width, theme, `${screen}-${width}-${theme}`))),
    );
}

const server = spawn(process.execPath, [join(root, "pkg/dist/esm/cli.js"), "playground", "--port", "0"], {
  stdio: ["ignore", "pipe", "inherit"],
});
try {
  const [address] = await once(createInterface(server.stdout), "line");
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: [...CHROMIUM_FLAGS, "--hide-scrollbars"] });
  try {
    const isAll = values.all !== undefined;
    const folder = values.all ?? join(root, "docs/playground");
    mkdirSync(join(folder, isAll ? "" : "widths"), { recursive: true });
    for (const { screen, width, theme, name } of isAll ? everything() : DOCUMENTED) {
      const viewport = { width, height: width < 600 ? 844 : 900 };
      const context = await browser.newContext({ viewport, colorScheme: theme, reducedMotion: "reduce" });
      const page = await context.newPage();
      page.setDefaultTimeout(15_000);
      try {
        await page.goto(address);
        await SCREENS[screen](page);
      } catch (error) {
        console.error(`${name}: ${error instanceof Error ? error.message : error}`);
        process.exitCode = 1;
      }
      await settled(page);
      const picture = await page.screenshot({ fullPage: isAll });
      const small = isAll ? picture : paletted(picture);
      writeFileSync(join(folder, name), small);
      console.log(`${name}: ${(small.length / 1000).toFixed(0)} kB`);
      await context.close();
    }
  } finally {
    await browser.close();
  }
} finally {
  server.kill();
}
