/** What a command evaluates: evalsets with their plans, metrics and portions, and where actual conversations come from. */

import { dirname } from "node:path";
import type { Plan } from "../agents/evaluation.js";
import type { Spending } from "../agents/spending.js";
import { closest } from "../closest.js";
import { criteriaIn, customMetricsIn, recordOf } from "../engine/criteria.js";
import type { JournalSection } from "../journal/section.js";
import { isPrebuilt } from "../metric-info.js";
import { layersOf, loadModule, moduleNameOf } from "../modules/load.js";
import type { Budget, MetricRegistry, Mistake } from "../types.js";
import { selectedIds } from "./agent-runs.js";
import { api } from "./api.js";
import { baseName } from "./files.js";
import type { Input } from "./inputs.js";
import type { Interruption } from "./interruption.js";
import { inFiles } from "./mistakes.js";
import { portionsOf } from "./portions.js";
import { hostUserCode, warn } from "./process.js";
import type { ProgressBar } from "./progress.js";
import { definedProperties } from "../lists.js";

/** What an agent did in the cases of an evalset. */
export interface Actual {
  actual: Uint8Array | object;
  /** The ids of the cases that it was run in; absent if it was run in all. */
  evalIds?: readonly string[];
  /** Whether it was stopped before it was run in all cases. */
  isCut?: boolean;
  /** The budget of simulated users, and what they spent of it. */
  spending?: Spending;
}

/** Where actual conversations come from: files, or an agent that is run. */
export interface Source {
  /** How often the agent is run in each case; absent for files. */
  numRuns?: number;
  /** The files with actual conversations, one for each evalset. */
  files?: readonly string[];
  /** Other files that are read, with what they are: no output may overwrite them. */
  others?: ReadonlyMap<string, string>;
  /** Completes the evalsets. */
  prepare?(inputs: readonly Input[]): Promise<void>;
  /** Checks whether the agent can be run in an evalset, before it is run in any. @throws What is missing. */
  check?(input: Input): Promise<void>;
  /** Checks the simulated users of the cases that are not left out. @throws What is missing. */
  checkUsers?(input: Input, budget: Budget, strict: boolean): Promise<void>;
  /** Does what takes long, such as loading the agent, once nothing else is wrong. */
  begin?(): Promise<void>;
  /** Parts of an evalset, each scored before the agent is run in the next. For `--bail`, where the first failure ends all. */
  portionsOf?(input: Input): Promise<Input[]>;
  /** The actual conversations of one evalset. @param budget What is left of the budget. */
  actualOf(
    input: Input,
    stop: Interruption,
    bar: ProgressBar,
    budget: Budget,
    journal?: JournalSection,
  ): Promise<Actual>;
}

/** What is evaluated, and by which metrics. */
export function planOf({ evalSet, config, files, selection: { evalIds } }: Input): Plan {
  return {
    evalSet,
    evalSetName: baseName(files.evalSet),
    ...definedProperties({ config, evalIds }),
  };
}

/** The parts of an evalset that are scored one after the other. */
export async function portionsFor(
  input: Input,
  source: Pick<Source, "portionsOf">,
  bails: boolean,
): Promise<Iterable<Input>> {
  const { largeResults } = input;
  if (largeResults !== undefined) return portionsOf(input, largeResults, await selectedIds(input));
  return (bails ? await source.portionsOf?.(input) : undefined) ?? [input];
}

/** Where the metrics of each config are found. */
export async function registriesOf(inputs: readonly Input[], modules: readonly string[]): Promise<MetricRegistry[]> {
  const { loadCustomMetrics } = await api();
  if (modules.length > 0) hostUserCode();
  const registries: MetricRegistry[] = [];
  for (const { config = "{}", files } of inputs) {
    try {
      const baseDir = dirname(files.config ?? files.evalSet);
      registries.push(await loadCustomMetrics(config, { modules, baseDir }));
    } catch (error) {
      throw inFiles(error, files);
    }
  }
  return registries;
}

/** Warns if no config has a metric of `--metrics`, and of one that the engine computes all the same. */
export async function sayUnusedMetrics(
  inputs: readonly Input[],
  registries: readonly MetricRegistry[],
  modules: readonly string[],
): Promise<void> {
  const loaded = await Promise.all(
    modules.map(async (module) => loadModule(moduleNameOf(module, process.cwd()).file, "metrics")),
  );
  const exported = new Set(loaded.flatMap(layersOf).flatMap((layer) => Object.keys(layer)));
  let isUsed = false;
  for (const [at, { config, files }] of inputs.entries()) {
    const known = new Set(registries[at]?.customMetricNames());
    const names = Object.keys(criteriaIn(recordOf(config)));
    isUsed ||= names.some((name) => known.has(name));
    const kept = names.find((name) => !known.has(name) && exported.has(name) && isPrebuilt(name));
    if (kept === undefined) continue;
    isUsed = true;
    const help = `To replace it: "custom_metrics": {"${kept}": {"code_config": {"name": "${kept}"}}}`;
    warn(`the export \`${kept}\` is not used: the engine computes this metric`, files.config, help);
  }
  if (isUsed) return;
  const names = new Set(registries.flatMap((registry) => [...registry.customMetricNames()]));
  const help = `Add the metrics to use to \`criteria\` in the config. The modules have ${[...names].join(", ")}`;
  warn("--metrics has no effect: no criterion names one of its metrics", undefined, help);
}

/** The warnings about entries of `custom_metrics` that no criterion names. */
export function unusedEntries({ config }: Input): Mistake[] {
  if (config === undefined) return [];
  const root = recordOf(config);
  const criteria = Object.keys(criteriaIn(root));
  const unused = Object.keys(customMetricsIn(root)).filter((name) => !criteria.includes(name));
  return unused.map((name) => {
    const meant = closest(name, criteria);
    return {
      code: "invalid_input",
      message: `custom_metrics.${name} has no effect: there is no criterion \`${name}\``,
      path: `config: custom_metrics.${name}`,
      help: meant === undefined ? "Add it to `criteria`, or remove it" : `Did you mean \`${meant}\`?`,
    };
  });
}
