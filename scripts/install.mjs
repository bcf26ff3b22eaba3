// Installs the npm packages of the folders that are given, one after the other.

import { installPackages } from "./setup.mjs";

for (const folder of process.argv.slice(2)) installPackages(folder);
