import { useSignal } from "@preact/signals";
import { useEffect, useId } from "preact/hooks";
import type { Schema } from "../../editor/schema.js";
import { criteria, isObject, type Json, keyOf, metrics, setInConfig } from "../../state/criteria.js";
import { MetricName } from "../../ui/text.js";
import type { KnownMetric } from "../../worker/protocol.js";
import { SettingField } from "./setting-field.js";
import { toCamelCase, proposedThreshold, settingsOf } from "./settings.js";

/** All metrics with their settings, from the registry and the JSON Schema of configs. */
export function Metrics() {
  const schema = useSignal<Schema | undefined>(undefined);
  useEffect(() => {
    void import("../../editor/schemas.js")
      .then(({ schemaOf }) => schemaOf("config"))
      .then((found) => {
        schema.value = found;
      });
  }, []);
  const all = metrics.value;
  if (all.length === 0) return <p class="muted">Starting the engine…</p>;
  const withThreshold = all.filter(({ requiresThreshold }) => requiresThreshold !== false);
  const withoutThreshold = all.filter(({ requiresThreshold }) => requiresThreshold === false);
  const known = new Set(all.map(({ metricName }) => metricName));
  const unknownNames = Object.keys(criteria.value).filter((name) => !known.has(name) && !known.has(name.toLowerCase()));
  return (
    <>
      <Group
        title="Without a judge"
        metrics={withThreshold.filter(({ isJudged }) => !isJudged)}
        schema={schema.value}
      />
      <Group title="With a judge" metrics={withThreshold.filter(({ isJudged }) => isJudged)} schema={schema.value} />
      {unknownNames.length > 0 && (
        <p class="muted">
          The config names other metrics too:{" "}
          {unknownNames.map((name) => (
            <code key={name}>{name} </code>
          ))}
          They stay as they are; the JSON shows them.
        </p>
      )}
      <p class="muted">
        Reported without a threshold: {withoutThreshold.map(({ metricName }) => metricName).join(", ")}.
      </p>
    </>
  );
}

function Group({
  title,
  metrics: groupMetrics,
  schema,
}: {
  title: string;
  metrics: readonly KnownMetric[];
  schema: Schema | undefined;
}) {
  const id = useId();
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      <ul role="list" class="criterion-list">
        {groupMetrics.map((metric) => (
          <Metric key={metric.metricName} metric={metric} schema={schema} />
        ))}
      </ul>
    </section>
  );
}

function Metric({ metric, schema }: { metric: KnownMetric; schema: Schema | undefined }) {
  const { metricName: name, description = "", metricValueInfo } = metric;
  const { minValue = 0, maxValue = 1 } = metricValueInfo?.interval ?? {};
  const id = useId();
  const key = keyOf(name);
  const criterion = key === undefined ? undefined : criteria.value[key];
  const settingsObject = isObject(criterion) ? (criterion as Readonly<Record<string, Json>>) : {};
  const threshold = isObject(criterion) ? settingsObject["threshold"] : criterion;
  const isOn = key !== undefined;
  const isOutside = typeof threshold === "number" && (threshold < minValue || threshold > maxValue);

  const set = (path: readonly (string | number)[], value: Json | undefined) => {
    if (key === undefined) return;
    if (isObject(criterion)) setInConfig(["criteria", key, ...path], value);
    else if (value !== undefined) {
      const [first = ""] = path;
      const nested = path.slice(1).reduceRight<Json>((inner, step) => ({ [step]: inner }), value);
      setInConfig(["criteria", key], { threshold: criterion ?? proposed(), [first]: nested });
    }
  };
  const proposed = () => proposedThreshold(schema, name, maxValue);
  const settings = schema === undefined ? [] : settingsOf(schema, name);
  const settingTexts = settings.flatMap(({ key: snake }) => {
    const value = settingsObject[snake] ?? settingsObject[toCamelCase(snake)];
    if (value === undefined) return [];
    return typeof value === "object" ? [snake] : [`${snake} ${String(value)}`];
  });
  return (
    <li class={isOn ? "criterion on" : "criterion"}>
      <div class="check">
        <input
          id={id}
          type="checkbox"
          checked={isOn}
          aria-describedby={`${id}-what`}
          onChange={({ currentTarget }) =>
            setInConfig(["criteria", key ?? name], currentTarget.checked ? proposed() : undefined)
          }
        />
        <label for={id}>
          <code>
            <MetricName>{name}</MetricName>
          </code>
        </label>
        <span class="hint" id={`${id}-what`}>
          {description}
        </span>
      </div>
      {isOn && (
        <div class="criterion-threshold">
          <div class="threshold-row">
            <label for={`${id}-threshold`}>
              Threshold<span class="visually-hidden">, {name}</span>
            </label>
            <input
              id={`${id}-threshold`}
              class="field"
              type="number"
              inputMode="decimal"
              step="any"
              aria-invalid={isOutside}
              {...(isOutside ? { "aria-describedby": `${id}-range` } : {})}
              value={typeof threshold === "boolean" ? Number(threshold) : ((threshold ?? "") as string | number)}
              onInput={({ currentTarget: { value } }) => {
                const next = Number(value);
                if (value.trim() === "" || !Number.isFinite(next)) return;
                setInConfig(isObject(criterion) ? ["criteria", key, "threshold"] : ["criteria", key], next);
              }}
            />
            <input
              type="range"
              aria-label={`Threshold of ${name}`}
              min={minValue}
              max={maxValue}
              step={maxValue - minValue > 1 ? 0.1 : 0.05}
              aria-valuetext={String(threshold)}
              value={Number(threshold ?? maxValue)}
              onInput={({ currentTarget: { valueAsNumber } }) => {
                const next = Math.round(valueAsNumber * 1000) / 1000;
                setInConfig(isObject(criterion) ? ["criteria", key, "threshold"] : ["criteria", key], next);
              }}
            />
            <span class="muted">
              ({minValue} to {maxValue})
            </span>
          </div>
          {isOutside && (
            <p id={`${id}-range`} class="open trouble">
              Scores are {minValue} to {maxValue}: {threshold > maxValue ? "none reaches" : "all reach"} this threshold.
            </p>
          )}
          {settings.length > 0 && (
            <details>
              <summary>
                Settings
                {settingTexts.length > 0 && <span class="muted"> · {settingTexts.join(", ")}</span>}
              </summary>
              <div class="settings">
                {settings.map((setting) => (
                  <SettingField key={setting.key} setting={setting} parent={settingsObject} set={set} />
                ))}
              </div>
            </details>
          )}
        </div>
      )}
    </li>
  );
}
