// Checks the licence of every crate in Cargo.lock against the list in deny.toml, as cargo-deny does, which takes minutes to
// install.

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import satisfies from "spdx-satisfies";
import { parse } from "smol-toml";
import { fail, root } from "./setup.mjs";

const { allow, exceptions } = parse(readFileSync(join(root, "deny.toml"), "utf8")).licenses;
const metadata = execFileSync("cargo", ["metadata", "--locked", "--all-features", "--format-version", "1"], {
  cwd: root,
  encoding: "utf8",
  maxBuffer: 2 ** 28,
});
const refused = JSON.parse(metadata).packages.filter((crate) => !isAllowed(crate));
if (refused.length > 0) {
  fail(
    `licences that deny.toml does not allow: ${refused.map(({ name, license }) => `${name} (${license})`).join(", ")}`,
    "Take another crate, or add the licence to deny.toml if the package may carry it.",
  );
}

function isAllowed({ name, license }) {
  const more = exceptions.filter(({ crate }) => crate === name).flatMap(({ allow }) => allow);
  // Crates of before SPDX write `MIT/Apache-2.0`.
  return license !== null && satisfies(license.replaceAll("/", " OR "), [...allow, ...more]);
}
