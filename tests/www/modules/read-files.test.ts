import assert from "node:assert/strict";
import { register } from "node:module";
import { test } from "node:test";

/** The limits that Vite gives the page are those of the package. */
const limits = new URL("../../../pkg-template/src/generated/limits.ts", import.meta.url).href;
const hook = `export const resolve = (name, context, next) => next(name === "virtual:manifest" ? "${limits}" : name, context);`;
register(`data:text/javascript,${encodeURIComponent(hook)}`);
const { readDropped } = await import("../../../www/src/ui/read-files.js");

const refuse = (_: unknown, refused: (error: Error) => void) =>
  refused(new Error("A requested file could not be found"));

function entryOf(name: string, content?: string | object[]) {
  const isFile = !Array.isArray(content);
  const rest = isFile ? [] : [...content];
  return {
    name,
    isFile,
    file: content === undefined ? refuse : (found: (file: File) => void) => found(new File([content as string], name)),
    createReader: () => ({ readEntries: (found: (entries: object[]) => void) => found(rest.splice(0)) }),
  };
}

const dropped = (...entries: object[]) =>
  readDropped({
    items: entries.map((entry) => ({ kind: "file", webkitGetAsEntry: () => entry })),
  } as unknown as DataTransfer);

test("what cannot be read in a folder that is dropped is named, and the rest is read", async () => {
  const locked = { ...entryOf("locked", []), createReader: () => ({ readEntries: refuse }) };
  const inside = [
    entryOf("a.json", "{}"),
    entryOf("gone.json"),
    locked,
    entryOf("__proto__", [entryOf("b.json", "[]")]),
  ];
  const { files, skipped } = await dropped(entryOf("evals", inside), entryOf("c.json", "5"));
  assert.deepEqual(
    files.map(({ name, folder }) => [folder, name]),
    [
      ["evals", "a.json"],
      ["evals/__proto__", "b.json"],
      ["", "c.json"],
    ],
  );
  assert.deepEqual(skipped, ["gone.json cannot be read", "locked cannot be read"]);
  const nothing = await dropped(entryOf("gone.json"));
  assert.deepEqual(nothing, { files: [], skipped: ["gone.json cannot be read"] });
  assert.deepEqual((await dropped(entryOf("empty", [entryOf("x.txt", "")]))).skipped, [
    "there is no .json or .jsonl file in it",
  ]);
});
