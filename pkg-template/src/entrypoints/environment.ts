// What only Node and those that follow it have: an environment with the keys of judges, and files.
import { provideAgentHost } from "../agents/host.js";
import { nodeAgentHost } from "../agents/node.js";
import { provideEnvironment } from "../judges/default.js";
import { judgeFromEnvironment } from "../judges/environment.js";
import { nodeBatchHost } from "../modules/in-batches.js";
import { provideBatches } from "../run/batching.js";

export { fileJournal, type FileJournal, type FileJournalOptions } from "../journal/file.js";
export { fileCache } from "../judges/cache-file.js";
export { type CustomMetricsOptions, loadCustomMetrics } from "../modules/custom-metrics.js";

/** Lets judges be made from the environment, and agents and evalsets be found in files. */
export function useEnvironment(): void {
  provideEnvironment((model) => judgeFromEnvironment(model, process.env));
  provideAgentHost(nodeAgentHost);
  provideBatches(nodeBatchHost);
}
