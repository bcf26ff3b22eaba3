// What only the entries for Node have.

import {
  type CustomMetricsOptions,
  evaluate,
  fileCache,
  type JudgeCache,
  loadCustomMetrics,
  type MetricEvaluatorRegistry,
} from "adk-metrics";

export const cache: JudgeCache = fileCache("replies");
export const evaluated = evaluate({ evalSet: "", actual: "", cache });

const modules: CustomMetricsOptions = { modules: ["./metrics.mjs", new URL("file:///metrics.mjs"), { own: () => 1 }] };
export const registry: Promise<MetricEvaluatorRegistry> = loadCustomMetrics("{}", { ...modules, baseDir: "evals" });
