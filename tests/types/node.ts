// What only the entries for Node have.

import { evaluate, fileCache, type JudgeCache } from "adk-metrics";

export const cache: JudgeCache = fileCache("replies");
export const evaluated = evaluate({ evalSet: "", actual: "", cache });
