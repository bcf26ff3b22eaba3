// The samples of a page of documentation: its fenced blocks, in order.
//
// A fence says the language first, then what a test has to know; GitHub shows the language only:
//
//   ```js agent.mjs        the sample is the file agent.mjs of the page's folder
//   ```ts continued        it goes on from the js or ts sample before
//   ```js browser          it runs in a page instead of in Node
//   ```sh exit=2           it ends with this exit status
//   ```json output         it is what the sample before prints, as every `text` block is
//   ```text illustration   it is not a sample: a tree of files, a picture
//
// `<!-- samples: examples/weather -->` in a page names the folder whose files are there when its samples run.

import assert from "node:assert/strict";

/** The languages of samples, by the names that are to be written. */
const LANGUAGES = ["diff", "html", "js", "json", "jsonl", "python", "sh", "text", "ts", "yaml"];
const OUTPUTS = ["csv", "json", "jsonl", "md", "text", "xml"];
const FLAGS = ["browser", "continued", "illustration", "output"];

/**
 * @typedef {object} Sample
 * @property {string} name The page and the line, `docs/judges.md:6`.
 * @property {number} line
 * @property {string} language
 * @property {string} code
 * @property {string} [file] The name of the file that the sample is.
 * @property {number} [exit] The exit status that it has to end with.
 * @property {Set<string>} flags
 * @property {Sample} [before] The sample that this one goes on from.
 * @property {Sample} [output] What it has to print.
 */

/**
 * Reads a page.
 *
 * @returns {{ folder: string, samples: Sample[] }} The folder of its files and its samples, outputs with what prints them.
 */
export function readPage(page, text) {
  const folder = /^<!-- samples: (\S+) -->$/m.exec(text)?.[1] ?? "examples/weather";
  const samples = [];
  for (const block of blocksOf(page, text)) {
    const isOutput = block.flags.has("output") || (block.language === "text" && !block.flags.has("illustration"));
    if (!isOutput) {
      assert.ok(
        LANGUAGES.includes(block.language),
        `${block.name}: "${block.language}" is none of ${LANGUAGES.join()}`,
      );
      if (block.flags.has("continued")) {
        block.before = samples.findLast(({ language }) => language === "js" || language === "ts");
        assert.ok(block.before, `${block.name}: there is no sample that it could go on from`);
      }
      samples.push(block);
      continue;
    }
    assert.ok(OUTPUTS.includes(block.language), `${block.name}: outputs are ${OUTPUTS.join()}`);
    const printer = samples.findLast(({ language }) => ["html", "js", "sh", "ts"].includes(language));
    assert.ok(printer, `${block.name}: there is no sample that could print it`);
    assert.equal(printer.output, undefined, `${block.name}: ${printer.name} has an output already`);
    printer.output = block;
  }
  return { folder, samples };
}

/** The fenced blocks of a page. */
function* blocksOf(page, text) {
  const lines = text.split("\n");
  for (let start = 0; start < lines.length; start++) {
    const fence = /^( *)(`{3,})(.*)$/.exec(lines[start]);
    if (fence === null) continue;
    const [, indent, ticks, info] = fence;
    const end = lines.findIndex((line, index) => index > start && line.trim() === ticks);
    const name = `${page}:${start + 1}`;
    assert.notEqual(end, -1, `${name}: the block has no end`);
    const code = lines
      .slice(start + 1, end)
      .map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line));
    const [language, ...words] = info.trim().split(/\s+/);
    assert.ok(language, `${name}: the block names no language`);
    const block = { name, line: start + 1, language, code: `${code.join("\n")}\n`, flags: new Set() };
    for (const word of words) {
      if (FLAGS.includes(word)) block.flags.add(word);
      else if (/^exit=\d+$/.test(word)) block.exit = Number(word.slice(5));
      else if (/^[\w.-]+(\/[\w.-]+)*\.\w+$/.test(word)) block.file = word;
      else assert.fail(`${name}: what is "${word}"?`);
    }
    yield block;
    start = end;
  }
}
