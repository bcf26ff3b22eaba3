import { effect, signal } from "@preact/signals";
import { asksJudge, plainConfig } from "../../state/config.js";
import { isLooking, matching } from "../../state/inputs.js";
import { givenPrices, jobNow } from "../../state/job.js";
import { askedModels, asksModel, fieldsOf, judgeKind, runOptions, serviceChoice } from "../../state/judge.js";
import { underWay } from "../../state/run.js";
import { MetricName } from "../../ui/text.js";
import { engine } from "../../worker/client.js";
import type { Estimate, Outcome } from "../../worker/protocol.js";

/** What the run will ask; absent while that is being counted. */
const estimate = signal<Outcome<Estimate> | undefined>(undefined);

/** Tokens of a reply, which nobody knows before: the user's guess. */
const replyTokens = signal(150);

/** Characters of a token, about: what the engine, too, takes where a provider does not say. */
const CHARACTERS = 4;

let waiting: ReturnType<typeof setTimeout> | undefined;
effect(() => {
  const isReady =
    asksJudge.value && !isLooking.value && matching.value.pairs.some(({ actual }) => actual !== undefined);
  const { dialect, earlyStop } = runOptions.value;
  const depends = [
    plainConfig.value,
    dialect,
    earlyStop,
    serviceChoice.value !== undefined,
    underWay.value === undefined,
  ];
  clearTimeout(waiting);
  estimate.value = undefined;
  // While a run is under way the worker has better things to do.
  if (!isReady || depends.at(-1) === false) return;
  waiting = setTimeout(() => void count(), 300);
});

let counts = 0;

async function count(): Promise<void> {
  const mine = (counts += 1);
  const job = await jobNow();
  const found = job.ok ? await engine.estimate(job.value) : job;
  if (mine === counts) estimate.value = found;
}

/** How many calls a run makes, and roughly how many tokens and how much money that is, before any is made. */
export function EstimateTable() {
  if (!asksJudge.value) return <p class="muted">Nothing: no metric asks a judge.</p>;
  const found = estimate.value;
  if (found === undefined) {
    const isOpen = matching.value.pairs.every(({ actual }) => actual === undefined);
    return (
      <p class="muted">
        {isOpen
          ? "That shows when the files are there."
          : underWay.value === undefined
            ? "Counting…"
            : "The run is under way."}
      </p>
    );
  }
  if (!found.ok) return <p class="muted">It cannot be said yet: {found.problem.message}.</p>;
  const { rows } = found.value;
  const total = sumOf(rows);
  const byModel = sumOf(rows.filter(({ model }) => model !== undefined));
  const output = { least: byModel.least.calls * replyTokens.value, most: byModel.most.calls * replyTokens.value };
  const cost = costOf(rows);
  const isAsked = asksModel.value && judgeKind.value !== "recording" && judgeKind.value !== "none";
  return (
    <div class="estimate">
      <p class="sum">
        <strong>{range(total.least.calls, total.most.calls)}</strong> {total.most.calls === 1 ? "call" : "calls"}
        {asksModel.value && (
          <>
            , about <strong>{range(tokens(total.least.characters), tokens(total.most.characters))}</strong> tokens of
            questions
          </>
        )}
        {isAsked && (
          <>
            {" "}
            and <strong>{range(output.least, output.most)}</strong> of replies
          </>
        )}
        {cost !== undefined && (
          <>
            , at about{" "}
            <strong>
              {money(cost.least)}–{money(cost.most)}
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
          {rows.map(({ metric, model, least, most }) => (
            <tr key={`${metric}/${model}`}>
              <th scope="row">
                <code>
                  <MetricName>{metric}</MetricName>
                </code>
              </th>
              <td class="number">{range(least.calls, most.calls)}</td>
              <td class="number">
                {model === undefined ? "–" : range(tokens(least.characters), tokens(most.characters))}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {isAsked && (
        <label class="guess">
          Tokens of a reply, guessed{" "}
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
        Counted by a run that asks nobody. The fewest if all samples agree, the most if votes stay open to the end.
        Calls that fail are made again{isAsked ? "; replies that are kept are not asked for" : ""}. A token is taken as
        four characters.
        {serviceChoice.value !== undefined &&
          " Vertex AI’s evaluation service is asked once for each turn or conversation, at prices of its own."}
        {isAsked && cost === undefined && " Enter prices at the judge to see the cost."}
      </p>
    </div>
  );
}

function sumOf(rows: Estimate["rows"]) {
  const add = (which: "least" | "most") => ({
    calls: rows.reduce((sum, row) => sum + row[which].calls, 0),
    characters: rows.reduce((sum, row) => sum + row[which].characters, 0),
  });
  return { least: add("least"), most: add("most") };
}

function costOf(rows: Estimate["rows"]): { least: number; most: number } | undefined {
  const own = fieldsOf(judgeKind.value).model.trim();
  if (askedModels.value.some((model) => givenPrices.value[model] === undefined) || askedModels.value.length === 0)
    return undefined;
  const of = (which: "least" | "most") =>
    rows.reduce((sum, row) => {
      if (row.model === undefined) return sum;
      const { inputPerMillion = 0, outputPerMillion = 0 } = givenPrices.value[own === "" ? row.model : own] ?? {};
      const { calls, characters } = row[which];
      return sum + (tokens(characters) * inputPerMillion + calls * replyTokens.value * outputPerMillion) / 1e6;
    }, 0);
  return { least: of("least"), most: of("most") };
}

function tokens(characters: number): number {
  return Math.round(characters / CHARACTERS);
}

/** Two numbers as a range; large ones are rounded, since they are guesses. */
function range(least: number, most: number): string {
  const [a, b] = [rounded(least), rounded(most)];
  return a === b ? a : `${a}–${b}`;
}

function rounded(number: number): string {
  return new Intl.NumberFormat("en", { maximumSignificantDigits: number < 1000 ? 3 : 2 }).format(number);
}

/** Money, in whatever currency the prices are. */
export function money(amount: number): string {
  return new Intl.NumberFormat(
    "en",
    amount >= 1 ? { minimumFractionDigits: 2, maximumFractionDigits: 2 } : { maximumSignificantDigits: 2 },
  ).format(amount);
}
