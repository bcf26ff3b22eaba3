// What has to hold of the markup of any page.

import assert from "node:assert/strict";

/** Elements that have no closing tag. */
const VOID = new Set(["meta", "input", "wbr", "link", "!doctype"]);

export function tagsOf(markup: string): { name: string; closing: boolean; alone: boolean; attributes: string }[] {
  const body = markup.replaceAll(/<style>[\s\S]*?<\/style>/g, "");
  return [...body.matchAll(/<(\/?)([!a-z][a-z0-9]*)((?:[^"<>]|"[^"<>]*")*?)(\/?)>/g)].map(
    ([, slash, name = "", attributes = "", alone]) => ({
      name,
      closing: slash === "/",
      alone: alone === "/" || VOID.has(name),
      attributes,
    }),
  );
}

/** The page runs nothing and asks for nothing. */
export function checkInert(markup: string): void {
  for (const { name, attributes } of tagsOf(markup)) {
    assert.ok(!["script", "img", "iframe", "link", "object", "form", "base"].includes(name), name);
    assert.doesNotMatch(attributes, / (?:on\w+|style|src)=/);
    const href = / href="([^"]*)"/.exec(attributes)?.[1];
    assert.ok(href === undefined || href.startsWith("#"), href);
  }
}

/** Every element is closed where it was opened. */
export function checkNesting(markup: string): void {
  const open: string[] = [];
  for (const { name, closing, alone } of tagsOf(markup)) {
    if (closing) assert.equal(open.pop(), name);
    else if (!alone) open.push(name);
  }
  assert.deepEqual(open, []);
}
