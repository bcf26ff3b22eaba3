import type { Dialect } from "adk-metrics";
import { useState } from "preact/hooks";
import { OPTIONS } from "virtual:manifest";
import { asksJudge } from "../../state/config.js";
import { runOptions, type RunOptions } from "../../state/judge.js";
import { isRisk } from "../../state/stored-values.js";
import { CURRENCY } from "../../ui/format.js";
import { CheckField, NumberField, SelectField } from "./fields.js";

/** The options of a run. */
export function OptionsPanel() {
  const [risk, setRisk] = useState(runOptions.value.risk);
  const current = runOptions.value;
  const update = (changes: Partial<RunOptions>) => {
    runOptions.value = { ...current, ...changes };
  };
  const setLimit = (name: "maxCalls" | "maxCost", value: number | undefined) => {
    const { [name]: _, ...others } = current;
    runOptions.value = value === undefined ? others : { ...others, [name]: value };
  };
  const changeRisk = (typed: number | undefined) => {
    setRisk(typed);
    const { risk: _, ...others } = current;
    runOptions.value = isRisk(typed) ? { ...others, risk: typed } : others;
  };
  return (
    <details class="panel">
      <summary>Run settings</summary>
      <SelectField
        label={OPTIONS.dialect.label}
        hint="Those of @iqai/adk 0.5.9 differ for tool_trajectory_avg_score and response_match_score."
        value={current.dialect}
        options={OPTIONS.dialect.choices.map(([value, name]) => ({ value, name }))}
        onChange={(dialect) => update({ dialect: dialect as Dialect })}
      />
      {asksJudge.value && (
        <>
          <CheckField
            label={OPTIONS.earlyStop.label}
            hint={current.risk === undefined ? "The result is the one that all samples would give." : ""}
            checked={current.earlyStop}
            onChange={(earlyStop) => update({ earlyStop })}
          />
          {current.earlyStop && (
            <NumberField
              label="Also stop at a risk of"
              hint={
                risk !== undefined && !isRisk(risk)
                  ? "A risk is above 0 and at most 0.5."
                  : "The chance, such as 0.01, that all samples would decide otherwise. The first 20 questions of a metric show how samples vote, so fewer save nothing. Results mark these verdicts."
              }
              placeholder="no risk"
              value={risk}
              min={0}
              max={0.5}
              onInput={changeRisk}
            />
          )}
          <CheckField
            label="Keep replies in this browser"
            hint="The same question is then not asked again, even after a reload."
            checked={current.keepReplies}
            onChange={(keepReplies) => update({ keepReplies })}
          />
          <NumberField
            label={OPTIONS.concurrency.label}
            value={current.concurrency}
            min={OPTIONS.concurrency.least}
            max={64}
            step={1}
            onInput={(concurrency) => update({ concurrency: Math.max(1, concurrency ?? OPTIONS.concurrency.default) })}
          />
          <NumberField
            label={OPTIONS.calls.label}
            placeholder="no limit"
            value={current.maxCalls}
            min={1}
            step={1}
            onInput={(value) => setLimit("maxCalls", value)}
          />
          <NumberField
            label={`${OPTIONS.cost.label}, in ${CURRENCY}`}
            hint="Needs the prices of every model that is asked."
            placeholder="no limit"
            value={current.maxCost}
            min={OPTIONS.cost.least}
            onInput={(value) => setLimit("maxCost", value)}
          />
        </>
      )}
    </details>
  );
}
