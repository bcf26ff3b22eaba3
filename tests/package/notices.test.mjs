// The licences of what the package carries and others wrote ask for their notices to be passed on.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { mustRun, packageFolder, root } from "./support/package.mjs";

const notices = readFileSync(join(packageFolder, "THIRD_PARTY_LICENSES.md"), "utf8");

/** What stands below the name of a part: a text with a copyright, or where the text is. */
function assertNotice(name) {
  const [, after] = notices.split(`\n- ${name} (`);
  assert.ok(after, `${name} has no notice`);
  const [, text = ""] = /```text\n([^]*?)\n```/.exec(after) ?? [];
  assert.match(text, /Copyright|Apache License|MIT License/, name);
  assert.doesNotMatch(text, /<year>|\[fullname\]/, name);
}

test("every crate in the WebAssembly has its notice", () => {
  const args = ["tree", "--locked", "-p", "adk-metrics", "-e", "normal", "--target", "wasm32-unknown-unknown"];
  const printed = execFileSync("cargo", [...args, "--features", "wasm", "--prefix", "none"], {
    cwd: root,
    encoding: "utf8",
  });
  const crates = [...printed.matchAll(/^(\S+) v(\S+)/gm)].map(([, name, version]) => `${name} ${version}`);
  const others = new Set(crates.filter((name) => !name.startsWith("adk-metrics ")));
  assert.ok(others.size > 20, printed);
  for (const name of others) assertNotice(name);
});

test("the text of the MIT License stands once, below copyrights of all who chose it", () => {
  assert.equal(notices.match(/Permission is hereby granted[\w\s,]* this software/g).length, 1);
  const [, end = ""] = notices.split("## The MIT License");
  assert.match(end, /^\n\n```text\nPermission is hereby granted[^]*DEALINGS IN THE\nSOFTWARE\.\n```\n$/);
  const copyrights = notices.match(/^.*Copyright (?:\(c\)|©).*$/gim);
  assert.ok(copyrights.length > 15, copyrights.join("\n"));
});

test("Rust's library and Unicode's data have theirs", () => {
  assertNotice("Rust's standard library");
  assertNotice("Data of the Unicode Character Database");
  assert.match(notices, /UNICODE LICENSE V3/);
});

const hasSite = mustRun || existsSync(join(packageFolder, "playground"));

test("every package in the playground has its notice", { skip: !hasSite && "the playground is not built" }, () => {
  const { packages } = JSON.parse(readFileSync(join(root, "www/package-lock.json"), "utf8"));
  const names = Object.entries(packages)
    .filter(([path, { dev, link }]) => path.startsWith("node_modules/") && !dev && !link)
    .map(([path, { version }]) => `${path.slice("node_modules/".length)} ${version}`);
  assert.ok(names.some((name) => name.startsWith("preact ")));
  for (const name of names) assertNotice(name);
  assert.equal(readFileSync(join(root, "www/dist/THIRD_PARTY_LICENSES.md"), "utf8"), notices);
});
