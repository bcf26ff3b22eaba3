// `npm run dev`: builds the package if it is not there yet, and serves the playground, which follows its sources.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { build } from "./build.mjs";
import { installPackages, root, run } from "./setup.mjs";
import { www } from "./site.mjs";

if (!existsSync(join(root, "pkg/package.json"))) await build();
installPackages(www);
run(process.execPath, [join(www, "node_modules/vite/bin/vite.js"), ...process.argv.slice(2)], { cwd: www });
