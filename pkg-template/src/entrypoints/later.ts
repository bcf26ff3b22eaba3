// What Node's entries load when it is first used. What evaluates agents alone is a quarter of the package.
import { useEnvironment } from "./environment.js";

useEnvironment();

export { AgentEvaluator, LocalEvalService } from "../agents/index.js";
export { fileCache, loadCustomMetrics } from "./environment.js";
