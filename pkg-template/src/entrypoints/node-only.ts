// What Node has, and other runtimes with its modules, besides the index.
export {
  type CustomMetricsOptions,
  fileCache,
  fileJournal,
  type FileJournal,
  type FileJournalOptions,
  loadCustomMetrics,
} from "./environment.js";
