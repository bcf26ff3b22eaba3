// What a sample says that it prints. A comment at the end of a line that begins with an arrow is the value of that line:
// of what `console.log` prints there, of a `const` or of an expression:
//
//   rouge1("a b", "a c").fmeasure; // → 0.5
//   const { fmeasure } = rouge1("a b", "a c");
//   console.log(fmeasure); // → 0.5
//   for (const word of words) console.log(word); // → first
//   // → second
//
// `…` stands for anything, a line of it for any lines. White space and the kind of quotes do not count.

import assert from "node:assert/strict";

const ARROW = /^(.*?)\s*\/\/ → (.*)$/;

/**
 * Makes a sample tell what its arrows are about.
 *
 * @returns {{ code: string, shown: { line: number, text: string }[] }} The code, which calls `__sample(line, value)` and
 *   `__sample.log(line, ...values)`, and what each line has to come to.
 */
export function instrument(code, name) {
  const shown = [];
  const lines = code.split("\n");
  lines.forEach((line, index) => {
    const [, statement, text] = ARROW.exec(line) ?? [];
    if (statement === undefined) {
      const [, remark] = /^.*(?:console\.log\(.*\).*|;)\s+\/\/ (.*)$/.exec(line) ?? [];
      const looksPrinted =
        remark !== undefined && (line.includes("console.log(") || /^[-\d"'[{]|^(true|false)\b/.test(remark));
      assert.ok(
        !looksPrinted,
        `${name}: "// ${remark}": mark what is printed with →, put a remark on a line of its own`,
      );
      return;
    }
    if (statement.trim() === "") {
      const last = shown.at(-1);
      assert.ok(last, `${name}: "${line}" follows no other arrow`);
      last.text += `\n${text}`;
      return;
    }
    shown.push({ line: index, text });
    let start = index;
    if (/^\s*[)}\]]/.test(statement))
      start = lines.findLastIndex((text, at) => at < index && text.includes("console.log("));
    const constant = /^\s*const (\w+)\b.*;$/.exec(statement);
    if (lines[start]?.includes("console.log(")) {
      lines[start] = lines[start].replace("console.log(", `__sample.log(${index}, `);
    } else if (constant !== null) {
      lines[index] = `${statement} __sample(${index}, ${constant[1]});`;
    } else {
      assert.match(statement, /^\s*[^{}].*;$/, `${name}: an arrow belongs to console.log, a const or an expression`);
      lines[index] = `__sample(${index}, (${statement.trim().slice(0, -1)}));`;
    }
  });
  return { code: lines.join("\n"), shown };
}

/** That a whole output is what a page shows. */
export function assertPrinted(printed, shown, name) {
  const lines = tidy(shown).split("\n");
  const pattern = lines.map((line) => (line.trim() === "…" ? "(?:.*\n)*?" : `${toPattern(line)}\n`)).join("");
  if (!new RegExp(`^${pattern}$`).test(`${tidy(printed)}\n`)) assert.equal(tidy(printed), tidy(shown), name);
}

/** That what a line came to is what its arrow says. */
export function assertShown(printed, shown, name) {
  const folded = (text) => tidy(text).replaceAll(/\s+/g, " ");
  if (!new RegExp(`^${toPattern(folded(shown))}$`).test(folded(printed)))
    assert.equal(folded(printed), folded(shown), name);
}

const tidy = (text) =>
  text
    .replaceAll("'", '"')
    .replaceAll(/[ \t]+$/gm, "")
    .replaceAll(/^\n+|\s+$/g, "");

const toPattern = (text) =>
  text
    .split("…")
    .map((literal) => literal.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&"))
    .join(".*?");
