/**
 * The package as any user of it has it. Loaded when it is needed, since help needs no engine; and as the entry that it
 * is, since code that two entries share would move out of both, the line that finds the engine with it.
 */
export const api = () => import("../entrypoints/node.js");
