/**
 * The histogram of a metric's scores, with the threshold as a draggable line. Verdicts come from the engine; they are not
 * derived from the positions of bars.
 */

import type { Estimate } from "adk-metrics";
import { UNITS } from "virtual:manifest";
import { useSignal } from "@preact/signals";
import { resetThresholds, setThreshold, summary, thresholds, verdicts } from "../../state/run.js";
import type { RunSummary } from "../../worker/protocol.js";
import { amountText, count } from "../../ui/format.js";
import { MetricName } from "../../ui/text.js";
import { Calibrations } from "./calibrations.js";
import { reliability } from "./figures.js";
import { BINS, type Scale, snapToStep, shareOf, type Spread } from "../../worker/scale.js";

export function Histogram({ column }: { column: number }) {
  const run = summary.value as RunSummary;
  const metric = run.metrics[column] as RunSummary["metrics"][number];
  const scale = run.scales[column] as Scale;
  const spread = (verdicts.value ?? run.verdicts).spreads[column] as Spread;
  const [passed, failed, others] = [spread.passed, spread.failed, spread.others].map(sum) as [number, number, number];
  const runThreshold = metric.threshold;
  const threshold = thresholds.value.get(metric.name) ?? runThreshold;
  const mean = reliability.value?.run === run.id ? reliability.value.value.means[metric.name] : undefined;
  const isChanged = threshold !== runThreshold;
  return (
    <section class="histogram" aria-label={metric.name}>
      <h3>
        <MetricName>{metric.name}</MetricName>
      </h3>
      <div class="plot">
        <div class="bars" aria-hidden="true">
          {shapesOf(spread).map(([kind, shape]) => (
            <div key={kind} class={kind} style={{ clipPath: shape }} />
          ))}
        </div>
        {threshold !== undefined && (
          <ThresholdLine
            name={metric.name}
            scale={scale}
            value={threshold}
            outcomeText={`${passed} pass, ${failed} fail`}
          />
        )}
      </div>
      <div class="axis">
        <span aria-hidden="true">{amountText(scale.min)}</span>
        {threshold !== undefined && <ThresholdField name={metric.name} scale={scale} value={threshold} />}
        <span aria-hidden="true">{amountText(scale.max)}</span>
      </div>
      <footer>
        <p>
          {threshold === undefined ? (
            count(passed + failed + others, "case")
          ) : (
            <>
              <span class="tone passed">{passed.toLocaleString("en")} pass</span>
              {" · "}
              <span class="tone failed">{failed.toLocaleString("en")} fail</span>
            </>
          )}
          {mean !== undefined && ` · mean ${meanText(mean)}`}
          {mean !== undefined && Object.hasOwn(UNITS, metric.name) && ` ${UNITS[metric.name]}`}
          {spread.open > 0 &&
            ` · ${spread.open.toLocaleString("en")} ${threshold === undefined ? "unknown" : "not evaluated"}`}
        </p>
        {isChanged && (
          <button type="button" class="link" onClick={() => void resetThresholds(metric.name)}>
            Reset to {runThreshold}
          </button>
        )}
        <Calibrations run={run} metricName={metric.name} />
      </footer>
    </section>
  );
}

/** `0.82 (0.71 to 0.93)` */
function meanText({ value, low, high }: Estimate): string {
  const interval =
    low === undefined || high === undefined || low === high ? "" : ` (${shortText(low)} to ${shortText(high)})`;
  return `${shortText(value)}${interval}`;
}

function shortText(value: number): string {
  return amountText(Number(value.toPrecision(3)));
}

function sum(counts: readonly number[]): number {
  return counts.reduce((all, one) => all + one, 0);
}

/** The smallest height of a bar in percent, so that a single case is visible. */
const MIN_BAR_HEIGHT = 3;

/**
 * The bars of each kind as one polygon, in percent of the plot: failed at the bottom, then passed, then informational.
 * One element per bar would take longer to render than everything else.
 */
function shapesOf({ passed, failed, others }: Spread): [string, string][] {
  const highest = Math.max(1, ...passed.map((amount, bin) => amount + (failed[bin] ?? 0) + (others[bin] ?? 0)));
  const bases = new Array<number>(BINS).fill(100);
  return Object.entries({ failed, passed, informational: others }).flatMap(([kind, counts]): [string, string][] => {
    const points = counts.flatMap((amount, bin) => {
      if (amount === 0) return [];
      const base = bases[bin] as number;
      const top = base - Math.max((amount / highest) * 100, MIN_BAR_HEIGHT);
      bases[bin] = top;
      const [left, right] = [`${(bin * 100) / BINS}%`, `calc(${((bin + 1) * 100) / BINS}% - 1px)`];
      // From the bottom up to the bar, around it and down again.
      const corners = [left, 100, left, top, right, top, right, base, left, base, left, 100];
      return corners.map((at) => (typeof at === "number" ? `${at.toFixed(2)}%` : at));
    });
    if (points.length === 0) return [];
    const pairs = points.flatMap((x, at) => (at % 2 === 0 ? [`${x} ${points[at + 1]}`] : []));
    return [[kind, `polygon(${pairs.join()})`]];
  });
}

interface ThresholdProps {
  name: string;
  scale: Scale;
  value: number;
}

/** The threshold as a number field, for exact values. */
function ThresholdField({ name, scale, value }: ThresholdProps) {
  // What is typed stays while results arrive and the field is rendered again.
  const typed = useSignal<string | undefined>(undefined);
  return (
    <label class="threshold-field">
      <span aria-hidden="true">≥</span>
      <input
        class="field"
        type="number"
        step="any"
        aria-label={`Threshold of ${name}`}
        value={typed.value ?? value}
        onInput={({ currentTarget }) => {
          typed.value = currentTarget.value;
        }}
        onKeyDown={(event) => {
          const direction = event.key === "ArrowUp" ? 1 : event.key === "ArrowDown" ? -1 : 0;
          if (direction === 0) return;
          event.preventDefault();
          typed.value = undefined;
          void setThreshold(name, snapToStep(scale, value + direction * scale.step, scale.step));
        }}
        onChange={({ currentTarget }) => {
          const entered = currentTarget.valueAsNumber;
          if (Number.isFinite(entered)) void setThreshold(name, entered);
          typed.value = undefined;
        }}
        onBlur={() => {
          typed.value = undefined;
        }}
      />
    </label>
  );
}

function ThresholdLine({ name, scale, value, outcomeText }: ThresholdProps & { outcomeText: string }) {
  const isDragging = useSignal(false);

  function onKeyDown(event: KeyboardEvent): void {
    const step = event.shiftKey ? scale.step / 10 : scale.step;
    const moves: Readonly<Record<string, number>> = {
      ArrowRight: value + step,
      ArrowUp: value + step,
      ArrowLeft: value - step,
      ArrowDown: value - step,
      PageUp: value + 10 * step,
      PageDown: value - 10 * step,
      Home: scale.min,
      End: scale.max,
    };
    const to = Object.hasOwn(moves, event.key) ? moves[event.key] : undefined;
    if (to === undefined && event.key !== "Escape") return;
    event.preventDefault();
    void (to === undefined ? resetThresholds(name) : setThreshold(name, snapToStep(scale, to, step)));
  }

  function drag(event: PointerEvent & { currentTarget: HTMLElement }): void {
    const plot = event.currentTarget.parentElement;
    if (!isDragging.value || plot === null) return;
    const { left, width } = plot.getBoundingClientRect();
    const share = Math.min(1, Math.max(0, (event.clientX - left) / width));
    const step = event.shiftKey ? scale.step / 10 : scale.step;
    void setThreshold(name, snapToStep(scale, scale.min + share * (scale.max - scale.min), step));
  }

  return (
    <div
      class={isDragging.value ? "threshold held" : "threshold"}
      role="slider"
      tabIndex={0}
      aria-label={`Threshold of ${name}`}
      aria-orientation="horizontal"
      aria-valuemin={scale.min}
      aria-valuemax={scale.max}
      aria-valuenow={value}
      aria-valuetext={`${value}: ${outcomeText}`}
      style={{ left: `${shareOf(scale, value) * 100}%` }}
      onKeyDown={onKeyDown}
      onPointerDown={(event) => {
        if (event.button !== 0) return;
        isDragging.value = true;
        event.currentTarget.setPointerCapture(event.pointerId);
      }}
      onPointerMove={drag}
      onPointerUp={() => {
        isDragging.value = false;
      }}
      onPointerCancel={() => {
        isDragging.value = false;
      }}
      onDblClick={() => void resetThresholds(name)}
    />
  );
}
