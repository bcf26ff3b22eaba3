// What only the entries for Node have is not there for browsers.

// @ts-expect-error it keeps replies in files
export { fileCache } from "adk-metrics";
// @ts-expect-error it loads modules from files
export { loadCustomMetrics } from "adk-metrics";
