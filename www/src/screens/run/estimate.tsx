import { effect, signal } from "@preact/signals";
import { asksJudge, plainConfig } from "../../state/config.js";
import { isInspecting, matching } from "../../state/inputs.js";
import { enteredPrices, currentJob } from "../../state/job.js";
import { CURRENCY } from "../../ui/format.js";
import { askedModels, asksModel, fieldsOf, judgeKind, runOptions, serviceChoice } from "../../state/judge.js";
import { runProgress } from "../../state/run.js";
import { MetricName } from "../../ui/text.js";
import { engine } from "../../worker/client.js";
import type { Estimate, Outcome } from "../../worker/protocol.js";

/** The estimate of the run's calls; undefined while it is being computed. */
const estimate = signal<Outcome<Estimate> | undefined>(undefined);

/** The user's guess of the tokens per reply, which cannot be known in advance. */
const replyTokens = signal(150);

/** The approximate length of a token, which the engine also assumes if a provider does not report tokens. */
const CHARACTERS_PER_TOKEN = 4;

let timer: ReturnType<typeof setTimeout> | undefined;
effect(() => {
  const isReady =
    asksJudge.value && !isInspecting.value && matching.value.pairs.some(({ actual }) => actual !== undefined);
  const { dialect, earlyStop, risk } = runOptions.value;
  const dependencies = [
    plainConfig.value,
    dialect,
    earlyStop,
    risk,
    serviceChoice.value !== undefined,
    runProgress.value === undefined,
  ];
  clearTimeout(timer);
  estimate.value = undefined;
  // Not computed during a run, to leave the worker free for it.
  if (!isReady || dependencies.at(-1) === false) return;
  timer = setTimeout(() => void count(), 300);
});

let lastCount = 0;

async function count(): Promise<void> {
  const request = (lastCount += 1);
  const job = await currentJob();
  const outcome = job.ok ? await engine.estimate(job.value) : job;
  if (request === lastCount) estimate.value = outcome;
}

/** The estimated calls, tokens and cost of a run. */
export function EstimateTable() {
  if (!asksJudge.value) return <p class="muted">Nothing: no metric asks a judge.</p>;
  const outcome = estimate.value;
  if (outcome === undefined) {
    const isOpen = matching.value.pairs.every(({ actual }) => actual === undefined);
    return (
      <p class="muted">
        {isOpen ? "Add files to see it." : runProgress.value === undefined ? "Counting…" : "The run is under way."}
      </p>
    );
  }
  if (!outcome.ok) return <p class="muted">No estimate yet: {outcome.problem.message}.</p>;
  const { rows } = outcome.value;
  const total = sumOf(rows);
  const byModel = sumOf(rows.filter(({ model }) => model !== undefined));
  const output = { min: byModel.min.calls * replyTokens.value, max: byModel.max.calls * replyTokens.value };
  const cost = costOf(rows);
  const isAsked = asksModel.value && judgeKind.value !== "recording" && judgeKind.value !== "none";
  return (
    <div class="estimate">
      <p class="sum">
        <strong>{range(total.min.calls, total.max.calls)}</strong> {total.max.calls === 1 ? "call" : "calls"}
        {asksModel.value && (
          <>
            , about <strong>{range(tokens(total.min.characters), tokens(total.max.characters))}</strong> tokens of
            questions
          </>
        )}
        {isAsked && (
          <>
            {" "}
            and <strong>{range(output.min, output.max)}</strong> of replies
          </>
        )}
        {cost !== undefined && (
          <>
            , at about{" "}
            <strong>
              {CURRENCY} {money(cost.min)}–{money(cost.max)}
            </strong>
          </>
        )}
        .
      </p>
      <table>
        <thead>
          <tr>
            <th scope="col">Metric</th>
            <th scope="col" class="number">
              Calls
            </th>
            <th scope="col" class="number">
              Tokens
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ metric, model, min, max }) => (
            <tr key={`${metric}/${model}`}>
              <th scope="row">
                <code>
                  <MetricName>{metric}</MetricName>
                </code>
              </th>
              <td class="number">{range(min.calls, max.calls)}</td>
              <td class="number">
                {model === undefined ? "–" : range(tokens(min.characters), tokens(max.characters))}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {isAsked && (
        <label class="reply-tokens">
          Assumed tokens per reply{" "}
          <input
            class="field"
            type="number"
            min={1}
            step={10}
            value={replyTokens.value}
            onInput={({ currentTarget: { valueAsNumber } }) => {
              if (valueAsNumber > 0) replyTokens.value = valueAsNumber;
            }}
          />
        </label>
      )}
      <p class="muted">
        Estimated by a dry run: the fewest calls if all samples agree, the most if votes stay open to the end. Retries
        are extra{isAsked ? "; cached replies are not asked for again" : ""}. A token is counted as four characters.
        {serviceChoice.value !== undefined &&
          " Vertex AI’s evaluation service is asked once for each turn or conversation, at its own prices."}
        {isAsked && cost === undefined && " Enter prices in the judge’s settings to see the cost."}
      </p>
    </div>
  );
}

function sumOf(rows: Estimate["rows"]) {
  const add = (which: "min" | "max") => ({
    calls: rows.reduce((sum, row) => sum + row[which].calls, 0),
    characters: rows.reduce((sum, row) => sum + row[which].characters, 0),
  });
  return { min: add("min"), max: add("max") };
}

function costOf(rows: Estimate["rows"]): { min: number; max: number } | undefined {
  const own = fieldsOf(judgeKind.value).model.trim();
  if (askedModels.value.some((model) => enteredPrices.value[model] === undefined) || askedModels.value.length === 0)
    return undefined;
  const of = (which: "min" | "max") =>
    rows.reduce((sum, row) => {
      if (row.model === undefined) return sum;
      const { inputPerMillion = 0, outputPerMillion = 0 } = enteredPrices.value[own === "" ? row.model : own] ?? {};
      const { calls, characters } = row[which];
      return sum + (tokens(characters) * inputPerMillion + calls * replyTokens.value * outputPerMillion) / 1e6;
    }, 0);
  return { min: of("min"), max: of("max") };
}

function tokens(characters: number): number {
  return Math.round(characters / CHARACTERS_PER_TOKEN);
}

/** Two numbers as a range; large ones are rounded, since they are estimates. */
function range(min: number, max: number): string {
  const [a, b] = [rounded(min), rounded(max)];
  return a === b ? a : `${a}–${b}`;
}

function rounded(number: number): string {
  return new Intl.NumberFormat("en", { maximumSignificantDigits: number < 1000 ? 3 : 2 }).format(number);
}

/** An amount of money, in the currency of the prices. */
export function money(amount: number): string {
  return new Intl.NumberFormat(
    "en",
    amount >= 1 ? { minimumFractionDigits: 2, maximumFractionDigits: 2 } : { maximumSignificantDigits: 2 },
  ).format(amount);
}
