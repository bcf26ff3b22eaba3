/**
 * How the scores of a metric are spread, with its threshold as a line to drag. What passes is what the engine says under
 * the threshold of now, not where a bar is.
 */

import { useComputed, useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { EvalStatus } from "../../enums.js";
import { resetThresholds, setThreshold, summary, thresholds, verdicts } from "../../state/run.js";
import type { RunSummary } from "../../worker/protocol.js";
import { amountText, count } from "../../ui/format.js";
import { MetricName } from "../../ui/text.js";
import { BINS, binsOf, type Scale, scaleOf, settled, shareOf } from "./scale.js";

interface Spread {
  passed: number[];
  failed: number[];
  /** Amounts that are only shown. */
  informational: number[];
  totals: { passed: number; failed: number; open: number; scored: number };
  highest: number;
}

export function Histogram({ column }: { column: number }) {
  const run = summary.value as RunSummary;
  const metric = run.metrics[column] as RunSummary["metrics"][number];
  const { scale, bins } = useMemo(() => {
    const scale = scaleOf(run, column);
    return { scale, bins: binsOf(run, column, scale) };
  }, [run, column]);
  const spread = useComputed(() =>
    spreadOf(bins, (verdicts.value ?? run.verdicts).metrics, run.metrics.length, column),
  );
  const { totals, highest, passed, failed, informational } = spread.value;
  const own = metric.threshold;
  const threshold = thresholds.value.get(metric.name) ?? own;
  const isChanged = threshold !== own;
  return (
    <section class="histogram" aria-label={metric.name}>
      <header>
        <h3>
          <MetricName>{metric.name}</MetricName>
        </h3>
        {threshold !== undefined && <ThresholdField name={metric.name} scale={scale} value={threshold} />}
      </header>
      <div class="plot">
        <div class="bars" aria-hidden="true">
          {Array.from({ length: BINS }, (_, bin) => (
            <div key={bin} class="bin">
              <Bar kind="informational" share={(informational[bin] ?? 0) / highest} />
              <Bar kind="passed" share={(passed[bin] ?? 0) / highest} />
              <Bar kind="failed" share={(failed[bin] ?? 0) / highest} />
            </div>
          ))}
        </div>
        {threshold !== undefined && (
          <ThresholdLine
            name={metric.name}
            scale={scale}
            value={threshold}
            own={own as number}
            outcome={`${totals.passed} pass, ${totals.failed} fail`}
          />
        )}
      </div>
      <div class="axis" aria-hidden="true">
        <span>{amountText(scale.least)}</span>
        <span>{amountText(scale.most)}</span>
      </div>
      <footer>
        <p>
          {threshold === undefined ? (
            count(totals.scored, "case")
          ) : (
            <>
              <span class="tone passed">{totals.passed.toLocaleString("en")} pass</span>
              {" · "}
              <span class="tone failed">{totals.failed.toLocaleString("en")} fail</span>
            </>
          )}
          {totals.open > 0 && ` · ${totals.open.toLocaleString("en")} ${threshold === undefined ? "unknown" : "open"}`}
        </p>
        {isChanged && (
          <button type="button" class="reset" onClick={() => void resetThresholds(metric.name)}>
            Reset to {own}
          </button>
        )}
      </footer>
    </section>
  );
}

function Bar({ kind, share }: { kind: string; share: number }) {
  return share > 0 ? <div class={`bar-part ${kind}`} style={{ height: `${Math.max(share * 100, 3)}%` }} /> : null;
}

function spreadOf(bins: Int8Array, statuses: Uint8Array, width: number, column: number): Spread {
  const empty = () => new Array<number>(BINS).fill(0);
  const spread: Spread = {
    passed: empty(),
    failed: empty(),
    informational: empty(),
    totals: { passed: 0, failed: 0, open: 0, scored: 0 },
    highest: 1,
  };
  const { totals } = spread;
  for (let row = 0; row < bins.length; row += 1) {
    const bin = bins[row] ?? -1;
    const status = statuses[row * width + column];
    if (bin < 0) {
      if (status !== 0) totals.open += 1;
      continue;
    }
    totals.scored += 1;
    const kind = status === EvalStatus.PASSED ? "passed" : status === EvalStatus.FAILED ? "failed" : "informational";
    if (kind !== "informational") totals[kind] += 1;
    spread[kind][bin] = (spread[kind][bin] ?? 0) + 1;
  }
  for (let bin = 0; bin < BINS; bin += 1) {
    const all = (spread.passed[bin] ?? 0) + (spread.failed[bin] ?? 0) + (spread.informational[bin] ?? 0);
    spread.highest = Math.max(spread.highest, all);
  }
  return spread;
}

interface ThresholdProps {
  name: string;
  scale: Scale;
  value: number;
}

/** The threshold as a number, for values that no dragging hits. */
function ThresholdField({ name, scale, value }: ThresholdProps) {
  return (
    <label class="threshold-field">
      <span aria-hidden="true">≥</span>
      <input
        class="field"
        type="number"
        step="any"
        aria-label={`Threshold of ${name}`}
        value={value}
        onKeyDown={(event) => {
          const way = event.key === "ArrowUp" ? 1 : event.key === "ArrowDown" ? -1 : 0;
          if (way === 0) return;
          event.preventDefault();
          void setThreshold(name, settled(scale, value + way * scale.step, scale.step));
        }}
        onChange={({ currentTarget }) => {
          const wanted = currentTarget.valueAsNumber;
          if (Number.isFinite(wanted)) void setThreshold(name, wanted);
          else currentTarget.value = String(value);
        }}
      />
    </label>
  );
}

function ThresholdLine({ name, scale, value, own, outcome }: ThresholdProps & { own: number; outcome: string }) {
  const isHeld = useSignal(false);

  function onKeyDown(event: KeyboardEvent): void {
    const step = event.shiftKey ? scale.step / 10 : scale.step;
    const moves: Readonly<Record<string, number>> = {
      ArrowRight: value + step,
      ArrowUp: value + step,
      ArrowLeft: value - step,
      ArrowDown: value - step,
      PageUp: value + 10 * step,
      PageDown: value - 10 * step,
      Home: scale.least,
      End: scale.most,
      Escape: own,
    };
    const to = Object.hasOwn(moves, event.key) ? moves[event.key] : undefined;
    if (to === undefined) return;
    event.preventDefault();
    void setThreshold(name, event.key === "Escape" ? own : settled(scale, to, step));
  }

  function drag(event: PointerEvent & { currentTarget: HTMLElement }): void {
    const plot = event.currentTarget.parentElement;
    if (!isHeld.value || plot === null) return;
    const { left, width } = plot.getBoundingClientRect();
    const share = Math.min(1, Math.max(0, (event.clientX - left) / width));
    const step = event.shiftKey ? scale.step / 10 : scale.step;
    void setThreshold(name, settled(scale, scale.least + share * (scale.most - scale.least), step));
  }

  return (
    <div
      class={isHeld.value ? "threshold held" : "threshold"}
      role="slider"
      tabIndex={0}
      aria-label={`Threshold of ${name}`}
      aria-orientation="horizontal"
      aria-valuemin={scale.least}
      aria-valuemax={scale.most}
      aria-valuenow={value}
      aria-valuetext={`${value}: ${outcome}`}
      style={{ left: `${shareOf(scale, value) * 100}%` }}
      onKeyDown={onKeyDown}
      onPointerDown={(event) => {
        if (event.button !== 0) return;
        isHeld.value = true;
        event.currentTarget.setPointerCapture(event.pointerId);
      }}
      onPointerMove={drag}
      onPointerUp={() => {
        isHeld.value = false;
      }}
      onPointerCancel={() => {
        isHeld.value = false;
      }}
      onDblClick={() => void resetThresholds(name)}
    />
  );
}
