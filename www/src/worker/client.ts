/** The page's end of the worker. */

import { proxy, wrap } from "comlink";
import type {
  CaseEdit,
  ComparisonFormat,
  Engine,
  Job,
  JudgeChoice,
  NamedFile,
  PageJudge,
  ResultsFormat,
  RunEvent,
  ServiceChoice,
} from "./protocol.js";

const remote = wrap<Engine>(new Worker(new URL("./engine.ts", import.meta.url), { type: "module", name: "engine" }));

/** The engine, in its worker. */
export const engine = {
  run: (job: Job, on: (event: RunEvent) => void, inPage: PageJudge) => remote.run(job, proxy(on), proxy(inPage)),
  cancel: () => remote.cancel(),
  connections: () => remote.connections(),
  withThresholds: (run: string, thresholds: ReadonlyMap<string, number>) => remote.withThresholds(run, thresholds),
  caseAt: (run: string, row: number) => remote.caseAt(run, row),
  questionsAt: (run: string, row: number) => remote.questionsAt(run, row),
  matchingsAt: (run: string, row: number) => remote.matchingsAt(run, row),
  inspect: (file: NamedFile) => remote.inspect(file),
  expectedOf: (results: NamedFile) => remote.expectedOf(results),
  metrics: () => remote.metrics(),
  checkConfig: (config: string) => remote.checkConfig(config),
  originsOf: (judge: JudgeChoice, service?: ServiceChoice) => remote.originsOf(judge, service),
  addResults: (files: NamedFile[]) => remote.addResults(files),
  contenderOf: (run: string, name: string) => remote.contenderOf(run, name),
  compare: (baseline: string, current: string) => remote.compare(baseline, current),
  comparedCases: (set: number, from: number, amount: number) => remote.comparedCases(set, from, amount),
  comparisonFile: (format: ComparisonFormat) => remote.comparisonFile(format),
  editableSet: (file: NamedFile) => remote.editableSet(file),
  editableCase: (text: string, at: number) => remote.editableCase(text, at),
  edited: (text: string, at: number, edit: CaseEdit) => remote.edited(text, at, edit),
  filesOf: (run: string, format: ResultsFormat) => remote.filesOf(run, format),
  packed: (run: string) => remote.packed(run),
  unpacked: (text: string) => remote.unpacked(text),
  estimate: (job: Job) => remote.estimate(job),
};
