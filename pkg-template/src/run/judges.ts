/** Who judges the metrics of a run, and which models said that they did. */

import { AdkMetricsError, withPath } from "../errors.js";
import type { EvalRun } from "../generated/adk_metrics.js";
import type { EngineError, HeaderMetric, RunHeader } from "../generated/contract.js";
import type { JournalSection } from "../journal/section.js";
import { MOST_VERSIONS } from "../judges/stamp.js";
import type { EvaluatorOptions, JudgeReply, JudgeStamp, VotePrior } from "../types.js";
import { type JournaledJudge, journaledJudge, journaledTarget, noTarget } from "./journaled.js";
import { PanelMembers } from "./panel-members.js";
import { pricedName, type PriceList, unpricedAmong, withoutPrices } from "./prices.js";
import { askedFor, checkModel, type JudgeTarget, targetOf, targetWarnings } from "./target.js";

export class Judges {
  /** What is to be known of them, without ending the run. */
  readonly warnings: EngineError[] = [];
  readonly #metrics: readonly HeaderMetric[];
  /** By the index of the metric. */
  readonly #targets = new Map<number, JudgeTarget>();
  /** The judges of those that a panel judges. */
  readonly #panels = new Map<number, PanelMembers>();
  /** Why metrics lack a judge, by their index. They can score none of the cases, so their judges are not asked. */
  readonly #missing = new Map<number, unknown>();
  /** The versions of models that replies named, by the index of the metric. */
  readonly #versions = new Map<number, Set<string>>();
  readonly #prices: PriceList | undefined;
  readonly #warned = new Set<string>();

  /**
   * @param isNeeded Whether a metric may ask anybody. Takes a while, so it is called for metrics without a judge only.
   * @param journal The judges of a run that is complete.
   * @throws {AdkMetricsError} `judge_required` if a metric has no judge, `invalid_input` for a judge that cannot have the
   * metric's model, or a budget in money without that model's price.
   */
  constructor(
    options: EvaluatorOptions,
    { metrics }: RunHeader,
    isNeeded: (metric: number) => boolean,
    journal?: JournalSection,
  ) {
    this.#prices = options.budget?.prices;
    this.#metrics = metrics;
    for (const [metric, { metricName, judge }] of metrics.entries()) {
      if (judge === undefined) continue;
      let target: JudgeTarget;
      try {
        target = journal?.isComplete === true ? journaledTarget(journal, metricName) : targetOf(options, judge);
      } catch (error) {
        // An error says which metric lacks a judge: the run may be of many files.
        const located = withPath(error, `config: criteria.${metricName}`);
        if (isNeeded(metric)) throw located;
        this.#missing.set(metric, located);
        continue;
      }
      const { panel } = target;
      if (panel !== undefined) {
        const { ask } = target;
        const asked = askedFor(metricName, target).panel;
        if (asked !== undefined && typeof options.earlyStop === "object") throw riskOfPanel(metricName);
        const members = new PanelMembers(asked ?? panel.slice(0, 1));
        this.#panels.set(metric, members);
        target = {
          ...target,
          ask: (request, signal) => members.ask(request.sampleIndex, signal, () => ask(request, signal)),
        };
      }
      this.#targets.set(metric, target);
      if (!judge.vertex) checkModel(options, askedFor(metricName, target), judge.model ?? "");
      else if (options.budget?.cost !== undefined && this.#prices === undefined) throw withoutPrices();
      for (const warning of targetWarnings(this.#metricAt(metric), target, judge)) this.#warn(warning);
    }
  }

  /** Who is asked for a metric; somebody who refuses where it lacks a judge. */
  target(metric: number): JudgeTarget {
    return this.#targets.get(metric) ?? noTarget(this.#missing.get(metric));
  }

  /** Tells an engine that was just given the run which models are asked, and which servers it speaks to itself. */
  attach(run: EvalRun): void {
    for (const [metric, target] of this.#targets) {
      const { endpoint, provider, model } = target;
      const { metricName, judge } = this.#metricAt(metric);
      if (endpoint !== undefined) run.setEndpoint(metric, endpoint.settingsOfRun());
      run.setAskedModel(metric, pricedName(askedFor(metricName, target), judge?.model ?? "", this.#prices));
      // Judges that wrap one of a provider send no more than it does.
      if (provider === undefined) continue;
      const settings = { provider, headers: {}, inBrowser: false, ...(model === undefined ? {} : { model }) };
      for (const warning of run.settingsNotSent(metric, settings)) {
        this.#warn(`${metricName}: ${warning}`);
      }
    }
  }

  /** Whether any metric has a judge. */
  get isNeeded(): boolean {
    return this.#targets.size > 0;
  }

  /** The judges as a journal identifies them. */
  identities(): JournaledJudge[] {
    return [...this.#targets].map(([metric, target]) => journaledJudge(this.#metricAt(metric), target));
  }

  /** Who is asked and has no price, if prices are given; with whether anybody has one. */
  get unpriced(): { names: string[]; hasPrice: boolean } {
    const asked = [...this.#targets].map(([metric, target]) => {
      const { metricName, judge } = this.#metricAt(metric);
      return [askedFor(metricName, target), judge] as const;
    });
    return unpricedAmong(asked, this.#prices);
  }

  /** The names whose prices count: those of models, functions and panels, or of the judges in a panel. */
  get priced(): string[] {
    return this.#metrics.flatMap(({ metricName, judge }, metric) => {
      if (judge === undefined || judge.vertex) return [];
      const target = this.#targets.get(metric);
      if (target === undefined) return judge.panel ?? judge.model ?? [];
      const asked = askedFor(metricName, target);
      const name = pricedName(asked, judge.model ?? "", this.#prices);
      return asked.panel === undefined || Object.hasOwn(this.#prices ?? {}, name) ? name : asked.panel;
    });
  }

  /** How the samples of metrics voted, where that decided when to stop. */
  priors(run: EvalRun): ReadonlyMap<number, VotePrior> {
    const known = [...this.#targets.keys()].map((metric) => [metric, run.votePrior(metric)] as const);
    return new Map(known.filter((one): one is [number, VotePrior] => one[1] !== undefined));
  }

  /** Who judged, for the results, and on what votes ended that were not certain. */
  stamps(risk: number | undefined, priors: ReadonlyMap<number, VotePrior>): JudgeStamp[] {
    return [...this.#targets].map(([metric, asked]) => {
      const { metricName, judge } = this.#metricAt(metric);
      const { model, functionName, panel } = askedFor(metricName, asked);
      if (judge?.vertex === true) return { metricName, scoredBy: "vertex" };
      const stamp: JudgeStamp = { metricName, scoredBy: "judge" };
      // A function may ask any model, or none: only it knows.
      const target = functionName === undefined ? (model ?? judge?.model ?? "") : model;
      if (target !== undefined) stamp.model = target;
      if (functionName !== undefined) stamp.function = functionName;
      if (panel !== undefined) stamp.panel = [...panel];
      const versions = this.#versions.get(metric);
      if (versions !== undefined) {
        stamp.modelVersions = [...versions].sort();
        if (panel !== undefined) stamp.panelVersions = this.#panels.get(metric)?.versions ?? {};
      }
      const prior = priors.get(metric);
      if (risk !== undefined && prior !== undefined) stamp.earlyStop = { risk, prior };
      stamp.prompts = judge?.prompts ?? {};
      return stamp;
    });
  }

  /** Remembers the model that a reply names. */
  noteVersion(metric: number, { modelVersion }: JudgeReply, sampleIndex: number): void {
    if (modelVersion === undefined || modelVersion === "") return;
    this.#panels.get(metric)?.noteVersion(sampleIndex, modelVersion);
    const versions = this.#versions.get(metric) ?? new Set();
    this.#versions.set(metric, versions);
    if (versions.size < MOST_VERSIONS) versions.add(modelVersion);
  }

  /**
   * Warns of judges of panels that never replied, and of metrics that more than one model judged: a service may replace a model
   * in the middle of a run.
   */
  noteChanges(): void {
    for (const [metric, members] of this.#panels) {
      const { metricName } = this.#metricAt(metric);
      for (const silent of members.silent()) {
        this.warnings.push({ code: "judge_failed", message: `${metricName}: ${silent}` });
      }
      for (const { name, versions } of members.changed()) {
        this.#warnOfVersions(`${metricName}: the replies of ${name} in the panel`, versions);
      }
    }
    for (const [metric, versions] of this.#versions) {
      if (versions.size < 2 || this.#panels.has(metric)) continue;
      const { metricName } = this.#metricAt(metric);
      this.#warnOfVersions(`${metricName}: its replies`, versions);
    }
  }

  #metricAt(index: number): HeaderMetric {
    return this.#metrics[index] as HeaderMetric;
  }

  #warnOfVersions(whose: string, versions: ReadonlySet<string>): void {
    const named = [...versions].sort().join(", ");
    this.#warn(`${whose} come from more than one model (${named}), whose verdicts may differ`, `versions of ${whose}`);
  }

  /** @param kind Warnings of the same kind are given once. */
  #warn(message: string, kind = message): void {
    if (this.#warned.has(kind)) return;
    this.#warned.add(kind);
    this.warnings.push({ code: "invalid_criterion", message });
  }
}

/** The risk is estimated from how one judge votes; the judges of a panel differ and take turns. */
function riskOfPanel(metricName: string): AdkMetricsError {
  return new AdkMetricsError(
    "invalid_input",
    `early stopping at a risk needs a single judge, but ${metricName} is judged by a panel`,
    {
      path: "earlyStop",
      help: 'Leave it out, or set "exact" (--early-stop exact): a panel\'s vote then ends when its verdict is certain',
    },
  );
}
