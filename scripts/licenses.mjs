// Checks the licence of every crate in Cargo.lock against the list in deny.toml, as cargo-deny does, which takes minutes to
// install.

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import satisfies from "spdx-satisfies";
import { parse } from "smol-toml";
import { fail, root } from "./setup.mjs";

const { allow } = parse(readFileSync(join(root, "deny.toml"), "utf8")).licenses;
const metadata = execFileSync("cargo", ["metadata", "--locked", "--all-features", "--format-version", "1"], {
  cwd: root,
  encoding: "utf8",
  maxBuffer: 2 ** 28,
});
const refused = JSON.parse(metadata).packages.filter(({ license }) => license === null || !isAllowed(license));
if (refused.length > 0) {
  fail(
    `licences that deny.toml does not allow: ${refused.map(({ name, license }) => `${name} (${license})`).join(", ")}`,
    "Take another crate, or add the licence to deny.toml if the package may carry it.",
  );
}

/** Crates of before SPDX write `MIT/Apache-2.0`. */
function isAllowed(license) {
  return satisfies(license.replaceAll("/", " OR "), allow);
}
