// `npm run bench`: this package beside what its users have today, in one process, and WebAssembly beside native code.
//
// Options are passed on: --rounds, --scale, --only (see benches/js/bench.mjs). ADK_PYTHON adds google-adk.

import { join } from "node:path";
import { build } from "./build.mjs";
import { installPackages, root, run, step } from "./setup.mjs";

await build();
installPackages(join(root, "tests/adk-ts"));
step("measuring; this takes some minutes");
run(process.execPath, ["--expose-gc", join(root, "benches/js/bench.mjs"), ...process.argv.slice(2)]);
