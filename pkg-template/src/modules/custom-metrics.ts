/**
 * The `custom_metrics` of a config, which name functions by where they are. A config runs no code merely by being scored:
 * functions come from the modules that the user names, and from no others.
 */

import { optionsOf } from "../known-options.js";
import { fileURLToPath } from "node:url";
import { closest } from "../closest.js";
import { criteriaIn, customMetricsIn } from "../engine/criteria.js";
import { toBytes } from "../engine/input.js";
import { snakeOf } from "../engine/spelling.js";
import { isObject, messageOf, unexpected } from "../engine/values.js";
import { parseJson } from "../engine/json.js";
import { AdkMetricsError, isAdkMetricsError } from "../errors.js";
import type { EvaluatorClass } from "../evaluators.js";
import { fieldOf } from "../invocation.js";
import type { MetricFunction } from "../metric-function.js";
import { isPrebuilt } from "../metric-info.js";
import { checkInfo, DEFAULT_METRIC_EVALUATOR_REGISTRY, type MetricEvaluatorRegistry } from "../registry.js";
import { ASSUMED } from "../run/ranges.js";
import type { ConfigInput, MetricDeclaration, MetricInfo } from "../types.js";
import { exportOf, type Exports, isSameFile, layersOf, loadModule, moduleNameOf } from "./load.js";

/** Where the metrics of a config come from. */
export interface CustomMetricsOptions {
  /**
   * The modules that may be loaded: paths, relative to the working directory, and `file:` URLs; or modules that are loaded
   * already (`import * as metrics`).
   */
  modules?: readonly (string | URL | object)[];
  /** The folder that paths in the config are relative to. Default: the working directory. */
  baseDir?: string;
  /** The registry whose metrics are there besides. Default: `DEFAULT_METRIC_EVALUATOR_REGISTRY`. It is not changed. */
  registry?: MetricEvaluatorRegistry;
}

/** A module that may be asked for metrics. */
interface Source {
  /** Where it is; absent if it was loaded by others. */
  file?: string;
  exports: Exports;
}

type Metric = EvaluatorClass | MetricFunction;

/**
 * Finds the custom metrics of a config: functions ({@link MetricFunction}) and classes that extend
 * `Evaluator`, exported by the modules that the options name. For a metric of `custom_metrics` its `code_config.name`
 * says which:
 *
 * - `./metrics.mjs#politeness`: that export of that module, which has to be one of `modules`; without `#` the export of the
 *   metric's name, or the default one.
 * - Anything else, such as Python's `my_package.metrics.politeness`: the export of the metric's name, or of the last part.
 *
 * Other exports are metrics under their own names, which criteria may use.
 *
 * For Node, Deno and Bun; a bundle for browsers has none.
 *
 * @returns A registry for `evaluate` and `AgentEvaluator`.
 * @throws {AdkMetricsError} `invalid_input` if a module cannot be loaded, or has no such export; `unknown_metric` for a metric
 * that no module has.
 */
export async function loadCustomMetrics(
  config: ConfigInput,
  options: CustomMetricsOptions = {},
): Promise<MetricEvaluatorRegistry> {
  const {
    modules = [],
    baseDir = process.cwd(),
    registry = DEFAULT_METRIC_EVALUATOR_REGISTRY,
  } = optionsOf(options, ["modules", "baseDir", "registry"]);
  const sources = await Promise.all(Array.from(modules, sourceOf));
  const own = registry.fork();
  for (const { exports } of [...sources].reverse()) registerAll(own, exports);
  const entries = customMetricsOf(config);
  const placed = new Set(entries.filter(([, entry]) => isModulePath(functionOf(entry) ?? "")).map(([name]) => name));
  for (const name of Object.keys(criteriaIn(fieldsOf(parsed(config))))) {
    if (!placed.has(name)) refuseTwo(name, sources);
  }
  for (const [name, entry] of entries) {
    const found = new Finder(name, entry, sources, baseDir).find();
    if (found !== undefined) own.registerEvaluator(infoOf(name, entry, found), found);
    else if (!own.customMetricNames().includes(name)) throw notFound(name, functionOf(entry));
  }
  const empty = sources.find(({ exports }) => metricsOf(exports).length === 0);
  if (empty !== undefined) {
    throw new AdkMetricsError("invalid_input", "the module of metrics exports neither functions nor classes", {
      path: empty.file ?? "modules",
      help: "A metric is an exported function, or an exported class that extends Evaluator",
    });
  }
  return own;
}

async function sourceOf(given: string | URL | object): Promise<Source> {
  if (typeof given !== "string" && !(given instanceof URL)) {
    if (!isObject(given)) throw unexpected("the name of a module, or a module", given, "modules");
    return { exports: given as Exports };
  }
  const { file } = moduleNameOf(given instanceof URL ? fileURLToPath(given) : given, process.cwd());
  return { file, exports: await loadModule(file, "metrics") };
}

/** Registers what a module exports, but for the names of the engine's metrics: to replace those, a config has to say so. */
function registerAll(registry: MetricEvaluatorRegistry, exports: Exports): void {
  for (const layer of layersOf(exports).reverse()) {
    for (const [name, value] of namedMetrics(layer)) {
      if (!isPrebuilt(name)) registry.registerEvaluator(infoOf(name, {}, value), value);
    }
  }
}

/** The metrics among exports, by the names under which criteria find them. */
function namedMetrics(exports: Exports): [string, Metric][] {
  return Object.entries(exports).flatMap(([key, value]): [string, Metric][] => {
    if (!isMetric(value) || key === "module.exports") return [];
    const name = key === "default" ? value.name : key;
    return name === "" ? [] : [[name, value]];
  });
}

/** @throws {AdkMetricsError} `invalid_input` for a metric that several modules export: the first would win. */
function refuseTwo(name: string, sources: readonly Source[]): void {
  const found = sources.flatMap(({ file = "modules", exports }) => {
    const named = layersOf(exports).flatMap(namedMetrics);
    return named.filter(([key]) => key === name).map(([, metric]) => ({ file, metric }));
  });
  const other = found.find(({ metric, file }) => metric !== found[0]?.metric && file !== found[0]?.file);
  if (other === undefined) return;
  throw new AdkMetricsError("invalid_input", `two modules export \`${name}\``, {
    path: other.file,
    help: `Rename one, or name its module in \`custom_metrics\`: "code_config": {"name": "./metrics.mjs#${name}"}`,
  });
}

function isMetric(value: unknown): value is Metric {
  return typeof value === "function";
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * The entries of `custom_metrics` that criteria name. Invalid JSON is reported when it is scored.
 *
 * @throws {AdkMetricsError} `invalid_input` for an entry that names no function where it seems to.
 */
function customMetricsOf(config: ConfigInput): [string, Fields][] {
  const root = fieldsOf(parsed(config));
  const criteria = criteriaIn(root);
  const given = fieldOf(root, "customMetrics") ?? undefined;
  if (given !== undefined && (!isObject(given) || Array.isArray(given))) {
    throw new AdkMetricsError("invalid_input", unexpected("an object", given, "config").message, {
      path: "config: custom_metrics",
      help: 'Write each entry under the name of its metric: {"politeness": {"code_config": {"name": "./metrics.mjs#politeness"}}}',
    });
  }
  const entries = Object.entries(customMetricsIn(root)).filter(([, entry]) => entry !== null);
  for (const [name, entry] of entries) checkEntry(name, entry);
  return entries.filter(([name]) => Object.hasOwn(criteria, name)) as [string, Fields][];
}

const ENTRY_KEYS = ["code_config", "codeConfig", "description", "metric_info", "metricInfo"];

/** An entry whose function is not read would have the export of the metric's name score instead. */
function checkEntry(name: string, entry: unknown): void {
  if (name.trim() === "") {
    throw new AdkMetricsError("invalid_input", "an entry of `custom_metrics` has no name", {
      path: `config: custom_metrics[${JSON.stringify(name)}]`,
      help: "Its name has to be that of a metric in the criteria",
    });
  }
  const path = `config: custom_metrics.${name}`;
  const help = `Write {"code_config": {"name": "./metrics.mjs#${name}"}}`;
  const refuse = (message: string, at = path) => {
    throw new AdkMetricsError("invalid_input", message, { path: at, help });
  };
  const found = (what: string, value: unknown) => unexpected(what, value, path).message;
  if (!isObject(entry)) return refuse(found("an object", entry));
  const fields = entry as Fields;
  const code = fieldOf(fields, "codeConfig") ?? undefined;
  const others = Object.keys(fields).filter((key) => !ENTRY_KEYS.includes(key));
  const unread = code === undefined ? others[0] : others.find((key) => closest(key, ENTRY_KEYS) !== undefined);
  if (unread !== undefined) refuse(`\`${unread}\` is not read here`, `${path}.${unread}`);
  checkInfo(fieldOf(fields, "metricInfo"), `${path}.metric_info.`, (key) => [snakeOf(key), key]);
  if (code === undefined) return;
  if (!isObject(code)) return refuse(found("an object", code), `${path}.code_config`);
  const { name: given } = code as Fields;
  if (typeof given !== "string") return refuse(found("the location of the function", given), pathOf(name));
  if (/^\s*#/.test(given)) refuse("`name` does not contain a module", pathOf(name));
}

function parsed(config: ConfigInput): unknown {
  try {
    return parseJson(new TextDecoder().decode(toBytes(config, "config")));
  } catch (error) {
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}

function fieldsOf(value: unknown): Fields {
  return isObject(value) ? (value as Fields) : {};
}

/** What `code_config` names. */
function functionOf(entry: Fields): string | undefined {
  const { name } = fieldsOf(fieldOf(entry, "codeConfig"));
  return typeof name === "string" && name !== "" ? name : undefined;
}

/** Looks for the function of one metric. */
class Finder {
  readonly #name: string;
  readonly #path: string | undefined;
  readonly #sources: readonly Source[];
  readonly #folder: string;

  constructor(name: string, entry: Fields, sources: readonly Source[], folder: string) {
    this.#name = name;
    this.#path = functionOf(entry);
    this.#sources = sources;
    this.#folder = folder;
  }

  find(): Metric | undefined {
    const path = this.#path;
    if (path !== undefined && isModulePath(path)) return this.#inModule(path);
    const names = [this.#name, ...(path === undefined ? [] : [path.slice(path.lastIndexOf(".") + 1)])];
    for (const name of names) {
      for (const { exports } of this.#sources) {
        const found = exportOf(exports, name);
        if (isMetric(found)) return found;
      }
    }
    return undefined;
  }

  #inModule(path: string): Metric {
    const { file, name } = moduleNameOf(path, this.#folder);
    const source = this.#sources.find((known) => known.file !== undefined && isSameFile(known.file, file));
    if (source === undefined) {
      throw this.#error(`the metric \`${this.#name}\` is in a module that is not allowed to run: ${file}`, {
        help: "Configs alone never run code: to allow the module, pass it to loadCustomMetrics or --metrics",
      });
    }
    const found =
      name === undefined
        ? (exportOf(source.exports, this.#name) ?? source.exports.default)
        : exportOf(source.exports, name);
    if (isMetric(found)) return found;
    const which = name ?? this.#name;
    throw this.#error(`${file} exports no function or class \`${which}\``, { help: exportsText(source.exports) });
  }

  #error(message: string, { help }: { help: string }): AdkMetricsError {
    return new AdkMetricsError("invalid_input", message, { path: pathOf(this.#name), help });
  }
}

/** `./metrics.mjs`, `metrics.ts#politeness`, `file:…`; no dotted name of Python's looks like that. */
function isModulePath(path: string): boolean {
  return /[\\/#]|^file:|\.[cm]?[jt]sx?$/.test(path);
}

/** The names of what a module exports that can be a metric. */
function metricsOf(exports: Exports): string[] {
  const names = layersOf(exports).flatMap((layer) => Object.keys(layer).filter((key) => isMetric(layer[key])));
  return [...new Set(names)];
}

/** The same in a sentence. */
function exportsText(exports: Exports): string {
  const known = metricsOf(exports);
  return known.length === 0 ? "It exports neither functions nor classes" : `It exports ${known.join(", ")}`;
}

function pathOf(name: string): string {
  return `config: custom_metrics.${name}.code_config.name`;
}

function notFound(name: string, path: string | undefined): AdkMetricsError {
  const isPython = path !== undefined && /^\w+(?:\.\w+)+$/.test(path);
  const message = isPython
    ? `\`${path}\` is a Python function, which cannot run here`
    : `no module has a function or class for the metric \`${name}\``;
  return new AdkMetricsError("unknown_metric", message, {
    path: pathOf(name),
    help: `Export a function \`${name}\` from a JavaScript module, and pass the module to loadCustomMetrics or --metrics`,
  });
}

/** What the config says of a metric, else what its class says, else what google-adk takes: values from 0 to 1. */
function infoOf(metricName: string, entry: Fields, metric: Metric): MetricDeclaration {
  const given = fieldOf(entry, "metricInfo");
  const words = fieldOf(given, "description") ?? entry.description;
  const said = typeof words === "string" && words !== "" ? { description: words } : {};
  if (!isObject(given)) return { metricValueInfo: ASSUMED, ...ownInfoOf(metric, metricName), ...said, metricName };
  const interval = fieldOf(fieldOf(given, "metricValueInfo"), "interval");
  const ends = ["minValue", "maxValue"].flatMap((key) => {
    const value = fieldOf(interval, key);
    return typeof value === "number" ? [[key, value] as const] : [];
  });
  const openAtMin = fieldOf(interval, "openAtMin") === true;
  const openAtMax = fieldOf(interval, "openAtMax") === true;
  return {
    metricName,
    ...said,
    metricValueInfo: ends.length === 0 ? {} : { interval: { ...Object.fromEntries(ends), openAtMin, openAtMax } },
  };
}

/**
 * What the class of a metric says of it. A function says nothing; nor do the classes that others extend, which throw.
 *
 * @throws {AdkMetricsError} `invalid_input` if the user's method throws.
 */
function ownInfoOf(metric: Metric, metricName: string): Partial<MetricInfo> {
  if (!("getMetricInfo" in metric)) return {};
  try {
    return fieldsOf(metric.getMetricInfo(metricName));
  } catch (cause) {
    const reason = messageOf(cause);
    // Of our `Evaluator`, and of that of ADK-TS.
    if (isAdkMetricsError(cause) || reason.includes("must be implemented")) return {};
    throw new AdkMetricsError("invalid_input", `getMetricInfo() of the metric \`${metricName}\` failed: ${reason}`, {
      cause,
    });
  }
}
