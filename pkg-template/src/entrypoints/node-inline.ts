// Node's entry where the module cannot be read from beside the JavaScript: bundles leave files behind, Deno would ask for
// the permission to read. It imports node.js itself, so that tools which trace a server's files by the conditions of
// bundlers also copy what Node then resolves.
import { replaceModule } from "../engine/instance.js";
import { inlineModule } from "./inline-module.js";

replaceModule(inlineModule);

export * from "./node.js";
