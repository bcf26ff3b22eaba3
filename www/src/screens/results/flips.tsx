/** The verdicts that changed because thresholds were moved. */

import { useSignal } from "@preact/signals";
import { EvalStatus } from "../../enums.js";
import { goTo, hrefOf } from "../../route.js";
import { configWith, moveThresholds } from "../../state/criteria.js";
import { resetThresholds, summary, thresholds, verdicts } from "../../state/run.js";
import { count } from "../../ui/format.js";
import { More } from "../../ui/more.js";
import { save } from "../../ui/save.js";
import { nameOf, Status, toneOf } from "../../ui/status.js";
import { MetricName, Name } from "../../ui/text.js";
import { type Flip, flips, names } from "./view.js";

/** How many flips are listed at first; four times as many are added at a time. */
const FLIPS_PER_PAGE = 20;

export function Flips() {
  const limit = useSignal(FLIPS_PER_PAGE);
  const run = summary.value;
  const changed = thresholds.value.size;
  if (run === undefined || changed === 0) return null;
  const all = flips.value;
  const useInCriteria = () => {
    moveThresholds(thresholds.value);
    goTo("criteria");
  };
  const saveConfig = () => save("test_config.json", configWith(thresholds.value), "application/json");
  return (
    <section class="flips" aria-labelledby="flips-title">
      <header>
        <h2 id="flips-title">
          {all.length === 0 ? "No verdict flips" : `Verdicts flip in ${count(all.length, "case")}`}
        </h2>
        <p class="muted" role="status">
          {summaryOf(all)}
        </p>
        <button type="button" class="button" onClick={useInCriteria}>
          Use in criteria
        </button>
        <button type="button" class="button" onClick={saveConfig}>
          Download test_config.json
        </button>
        <button type="button" class="button" onClick={() => void resetThresholds()}>
          Reset {count(changed, "threshold")}
        </button>
      </header>
      {all.length > 0 && (
        <ul>
          {all.slice(0, limit.value).map((flip) => (
            <li key={flip.row}>
              <a href={hrefOf("case", flip.row)}>
                <Name>{names.value[flip.row] ?? ""}</Name>
              </a>
              {flip.from === flip.to ? (
                <span class="muted">stays {nameOf(flip.to).toLowerCase()}</span>
              ) : (
                <FromTo from={flip.from} to={flip.to} />
              )}
              <span class="flip-metrics">
                {flip.metrics.map((column) => {
                  const at = flip.row * run.metrics.length + column;
                  return (
                    <span key={column}>
                      <MetricName>{run.metrics[column]?.name ?? ""}</MetricName>{" "}
                      <FromTo from={run.verdicts.metrics[at] ?? 0} to={verdicts.value?.metrics[at] ?? 0} />
                    </span>
                  );
                })}
              </span>
            </li>
          ))}
        </ul>
      )}
      <More limit={limit} total={all.length} step={4 * FLIPS_PER_PAGE} noun="case" />
    </section>
  );
}

/** `Passed → Failed`, with icons. */
function FromTo({ from, to }: { from: number; to: number }) {
  return (
    <span class="from-to">
      <span class={`tone ${toneOf(from)}`}>
        <Status of={from} isNamed /> {nameOf(from)}
      </span>{" "}
      <span aria-label="to" role="img">
        →
      </span>{" "}
      <span class={`tone ${toneOf(to)}`}>
        <Status of={to} isNamed /> {nameOf(to)}
      </span>
    </span>
  );
}

function summaryOf(all: readonly Flip[]): string {
  const to = (status: number) => all.filter((flip) => flip.from !== flip.to && flip.to === status).length;
  const parts = [
    [to(EvalStatus.PASSED), "passed"],
    [to(EvalStatus.FAILED), "failed"],
    [to(EvalStatus.NOT_EVALUATED), "not evaluated"],
  ] as const;
  const cases = parts.filter(([times]) => times > 0).map(([times, what]) => `${count(times, "case")} now ${what}`);
  if (all.length === 0) return "No verdict changes.";
  return cases.length > 0 ? `${cases.join(", ")}.` : "Only verdicts of metrics change; no case changes.";
}
