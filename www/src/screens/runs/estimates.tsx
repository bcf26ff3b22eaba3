/** How often each run passes and how its metrics score, with intervals on one axis. */

import type { Estimate } from "adk-metrics";
import { UNITS } from "virtual:manifest";
import type { RunEntry } from "../../state/runs.js";
import { reliabilities } from "../../state/side-by-side.js";
import { amountText, count, scoreText } from "../../ui/format.js";
import { Names } from "../../ui/names.js";
import { MetricName, Name } from "../../ui/text.js";

const DATE_FORMAT = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" });

export function Estimates({ runs }: { runs: readonly RunEntry[] }) {
  const known = runs.map(({ id }) => reliabilities.value.get(id));
  const metrics = [...new Set(known.flatMap((one) => Object.keys(one?.means ?? {})))];
  const confidence = known.find((one) => one !== undefined)?.confidence;
  return (
    <section aria-labelledby="estimates-title">
      <h2 id="estimates-title">How they score</h2>
      <p class="muted">
        The earliest run comes first.
        {confidence !== undefined && (
          <span class="of-trends">
            {` Bars are ${amountText(confidence * 100)}% intervals; the runs of a row share one axis.`}
          </span>
        )}
      </p>
      <div class="wide" tabIndex={0} role="group" aria-label="How the runs score, table">
        <table class="estimates">
          <thead>
            <tr>
              <th scope="col">Measure</th>
              <th scope="col" class="of-trends">
                Trend
              </th>
              {runs.map(({ id, name, creationTimestamp, configs = [], judges = [] }) => (
                <th key={id} scope="col">
                  <Name>{name}</Name>
                  {creationTimestamp !== undefined && <small>{DATE_FORMAT.format(creationTimestamp * 1000)}</small>}
                  <Names one="Config" several="Configs" names={configs} isLine />
                  <Names one="Judge" several="Judges" names={judges} isLine />
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            <Measure name="Pass rate" text={percentText} estimates={known.map((one) => one?.passRate)} />
            {(["passAtK", "passHatK"] as const).map(
              (key) =>
                known.some((one) => one?.[key] !== undefined) && (
                  <Measure
                    key={key}
                    name={passName(
                      key === "passAtK" ? "pass@" : "pass^",
                      known.flatMap((one) => one?.[key]?.k ?? []),
                    )}
                    text={percentText}
                    estimates={known.map((one) => one?.[key])}
                  />
                ),
            )}
            {known.some((one) => (one?.flaky.length ?? 0) > 0) && (
              <tr>
                <th scope="row">Flaky cases</th>
                <td class="of-trends" />
                {known.map((one, at) => (
                  <td key={at}>{one === undefined ? "–" : count(one.flaky.length, "case")}</td>
                ))}
              </tr>
            )}
            {metrics.map((metric) => (
              <Measure key={metric} name={metric} text={scoreOf} estimates={known.map((one) => one?.means[metric])} />
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

/** `pass^3`, where cases were run three times in each run. */
function passName(sign: string, ks: readonly number[]): string {
  const [k = 0, ...others] = new Set(ks);
  return others.length === 0 ? `${sign}${k}` : `${sign}k, for k up to ${Math.max(...ks)}`;
}

function percentText(share: number): string {
  return `${Math.round(share * 100)}%`;
}

function scoreOf(score: number): string {
  return Math.abs(score) >= 100 ? amountText(score) : scoreText(score);
}

interface MeasureProps {
  name: string;
  text(value: number): string;
  estimates: readonly (Estimate | undefined)[];
}

function Measure({ name, text, estimates }: MeasureProps) {
  return (
    <tr>
      <th scope="row">
        <MetricName>{name}</MetricName>
        {Object.hasOwn(UNITS, name) && <small>{UNITS[name]}</small>}
      </th>
      <td class="of-trends">
        <Trend estimates={estimates} />
      </td>
      {estimates.map((estimate, at) => (
        <td key={at}>
          {estimate === undefined ? (
            "–"
          ) : (
            <>
              <b>{text(estimate.value)}</b>
              {estimate.low !== undefined && estimate.high !== undefined && estimate.low < estimate.high && (
                <small>
                  {text(estimate.low)} to {text(estimate.high)}
                </small>
              )}
            </>
          )}
        </td>
      ))}
    </tr>
  );
}

const [WIDTH, HEIGHT, EDGE] = [160, 44, 6];

/** The runs from left to right; each bar is an interval. The table has the same in numbers. */
function Trend({ estimates }: { estimates: readonly (Estimate | undefined)[] }) {
  const values = estimates.flatMap((one) => (one === undefined ? [] : [one.low ?? one.value, one.high ?? one.value]));
  if (values.length === 0) return null;
  const isShare = values.every((value) => value >= 0 && value <= 1);
  const [low, high] = isShare ? [0, 1] : [Math.min(...values), Math.max(...values)];
  const x = (at: number) => EDGE + ((at + 0.5) / estimates.length) * (WIDTH - 2 * EDGE);
  const y = (value: number) => HEIGHT - EDGE - ((value - low) / (high - low || 1)) * (HEIGHT - 2 * EDGE);
  const points = estimates.flatMap((one, at) => (one === undefined ? [] : [`${x(at)},${y(one.value)}`]));
  return (
    <svg class="trend" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} width={WIDTH} height={HEIGHT} aria-hidden="true">
      <line class="axis" x1={0} x2={WIDTH} y1={y(low)} y2={y(low)} />
      <line class="axis" x1={0} x2={WIDTH} y1={y(high)} y2={y(high)} />
      <polyline points={points.join(" ")} />
      {estimates.map(
        (one, at) =>
          one !== undefined && (
            <g key={at}>
              {one.low !== undefined && one.high !== undefined && (
                <line class="span" x1={x(at)} x2={x(at)} y1={y(one.low)} y2={y(one.high)} />
              )}
              <circle cx={x(at)} cy={y(one.value)} r="3" />
            </g>
          ),
      )}
    </svg>
  );
}
