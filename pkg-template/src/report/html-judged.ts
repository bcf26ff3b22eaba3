/**
 * What judges had a part in, on the HTML page: for a set who judged and what it took, for a turn how the samples voted
 * (each reply behind a disclosure), the verdicts on rubrics, the labels of sentences, and what the judge remarked.
 */

import { EvalStatus } from "../enums.js";
import type {
  EvalMetricResult,
  EvalMetricResultPerInvocation,
  EvalSetResult,
  JudgeUsage,
  SampleVote,
  SimulatorUsage,
} from "../types.js";
import { breakable, capital, clipped, gridTable, html, type Markup } from "./html-markup.js";
import {
  type Bearing,
  type Finding,
  hasSteps,
  hasTokens,
  isOfRubrics,
  type JudgedVote,
  judgedRubrics,
  judgedVotes,
  remarksOf,
  samplesText,
  scorerText,
  sentenceFinding,
  sentenceGroups,
  tokensOf,
  tokensText,
  votesText,
} from "./judged.js";
import { atRiskText, calibrationsText, judgeNames, shortName, spentText } from "./usage.js";
import { proseOf } from "../votes.js";
import { amountText, count, head, shorten } from "./text.js";

/** A reply longer than this, or of more lines, scrolls in its box. */
const TALL_REPLY = { characters: 900, lines: 20 };

const TONES: Record<Bearing, string> = { for: "passed", against: "failed", none: "same" };

/** The words of findings that leave something open. */
const OPEN: ReadonlySet<string> = new Set(["unreadable", "unscored", "no verdict"]);

/** The icon of a finding; none where it bears on nothing. */
function sign(finding: Finding): Markup | undefined {
  const name = toneOf(finding);
  if (name === "same") return undefined;
  return html`<svg class="icon ${name}" aria-hidden="true"><use href="#icon-${name}"/></svg> `;
}

/** The class of a finding's colours. */
function toneOf({ bearing, word }: Finding): string {
  return OPEN.has(word) ? "unknown" : TONES[bearing];
}

/** What a judge found in a turn for one metric; `more` are reason and warnings, if they are to be shown. */
export function judgedBlock(
  turn: EvalMetricResultPerInvocation,
  metric: EvalMetricResult,
  overall: EvalMetricResult | undefined,
  more: Markup | undefined,
): Markup {
  const tokens = tokensOf(metric);
  const facts = [scorerText(metric), samplesText(metric), tokens && tokensText(tokens)]
    .filter((fact) => fact !== undefined)
    .map((fact) => html`<span>${capital(fact)}</span>`);
  const remarks = remarksOf(metric).map(
    ({ isError, text }) =>
      html`<div><h6>${isError ? "The judge’s error" : "The judge’s remark"}</h6><p class="text" dir="auto">${clipped(text)}</p></div>`,
  );
  return html`<div class="judged">
<div class="judged-head"><h5>${breakable(metric.metricName)}</h5>${facts.length > 0 ? html`<p>${facts}</p>` : undefined}</div>
${more ? html`<div class="muted">${more}</div>` : undefined}
${votesList(metric)}
${rubricsTable(turn, metric, overall)}
${sentencesTables(metric)}
${remarks}
</div>`;
}

function votesList(metric: EvalMetricResult): Markup | undefined {
  const votes = judgedVotes(metric);
  const several = hasSteps(metric.explanation);
  if (votes.length === 0) return undefined;
  // Why a metric did not pass is in the open; what rubrics and sentences say, their tables do.
  const isOpen = metric.evalStatus !== EvalStatus.PASSED && !isOfRubrics(metric) && !metric.explanation?.sentences;
  return html`<ol class="votes" aria-label="Replies of the judge">${votes.map((vote) => (isOpen ? openVote(vote) : voteItem(vote, several)))}</ol>`;
}

/** A sample with its reply in the open. */
function openVote({ vote, finding, isOutvoted, name }: JudgedVote): Markup {
  const facts = [...(isOutvoted ? ["outvoted"] : []), ...voteFacts(vote, name)];
  return html`<li class="told ${toneOf(finding)}"><div><span class="chip">${sign(finding)}${capital(finding.word)}</span></div>
<div>${replyMarkup(vote.reply)}<small>${capital(facts.join(", "))}</small></div></li>`;
}

function voteFacts({ cached, usage }: SampleVote, name: string): string[] {
  return [name, ...(cached ? ["reused reply"] : []), ...(usage ? [tokensText(usage)] : [])];
}

/** A sample as a button that opens its reply. */
function voteItem({ vote, finding, isOutvoted, ...more }: JudgedVote, several: boolean): Markup {
  const name = capital(more.name);
  const marks = [
    ...(several ? [`step ${(vote.stepIndex ?? 0) + 1}`] : []),
    ...(isOutvoted ? ["outvoted"] : []),
    ...(vote.cached ? ["reused"] : []),
  ];
  const facts = voteFacts(vote, name);
  return html`<li><details class="vote ${toneOf(finding)}"><summary><svg class="chevron" aria-hidden="true"><use href="#icon-chevron"/></svg>
${sign(finding)}<span class="vh">${name}: </span><span class="tone">${capital(finding.word)}</span>${marks.map((mark) => html` <small>${mark}</small>`)}</summary>
<div class="replied"><p class="label">${facts.join(", ")}</p>${replyMarkup(vote.reply)}</div></details></li>`;
}

/** A reply: why first, where it says so in JSON, and the reply itself behind that. */
function replyMarkup(reply: string): Markup {
  const isTall =
    reply.length > TALL_REPLY.characters || reply.split("\n", TALL_REPLY.lines + 1).length > TALL_REPLY.lines;
  const text = isTall
    ? html`<pre class="reply tall" dir="auto" tabindex="0" role="group" aria-label="Reply">${clipped(reply)}</pre>`
    : html`<pre class="reply" dir="auto">${reply === "" ? "No text" : clipped(reply)}</pre>`;
  const prose = proseOf(reply);
  if (prose === undefined) return text;
  return html`<p class="text" dir="auto">${clipped(prose)}</p>
<details class="raw"><summary><svg class="chevron" aria-hidden="true"><use href="#icon-chevron"/></svg> Reply as it came</summary>${text}</details>`;
}

/** A row of a table of findings: what was found and how the samples voted, of what, and why. */
function findingRow(finding: Finding, votes: string | undefined, what: Markup, why: Markup | undefined): Markup {
  return html`<tr><th scope="row"><span class="chip ${toneOf(finding)}">${sign(finding)}${capital(finding.word)}</span>${votes ? html`<small>${votes}</small>` : undefined}</th>
<td>${what}</td>${why ? html`<td data-side="Why">${why}</td>` : html`<td></td>`}</tr>`;
}

/** A table of findings; its caption is shown where it tells one table from another. */
function findingsTable(caption: Markup, headings: readonly [string, string, string], rows: readonly Markup[]): Markup {
  const [kind, what, why] = headings;
  return html`<table class="calls findings">${caption}
<thead><tr><th scope="col" class="kind">${kind}</th><th scope="col">${what}</th><th scope="col">${why}</th></tr></thead>
<tbody>${rows}</tbody></table>`;
}

function rubricsTable(
  turn: EvalMetricResultPerInvocation,
  metric: EvalMetricResult,
  overall: EvalMetricResult | undefined,
): Markup | undefined {
  const rubrics = judgedRubrics(turn, metric, overall);
  if (rubrics.length === 0) return undefined;
  const rows = rubrics.map(({ rubricId, text, finding, votes, rationale }) => {
    const what = html`<b>${breakable(rubricId)}</b>${text === undefined ? undefined : html`<p dir="auto">${clipped(text)}</p>`}`;
    const why = rationale ? html`<p dir="auto">${clipped(rationale)}</p>` : undefined;
    return findingRow(finding, votes && votesText(votes), what, why);
  });
  return findingsTable(html`<caption class="vh">Rubrics</caption>`, ["Verdict", "Rubric", "Why"], rows);
}

function sentencesTables(metric: EvalMetricResult): Markup[] {
  return sentenceGroups(metric).map(({ step, sentences }) => {
    const rows = sentences.map((sentence) => {
      const excerpt = (title: string, text: string | undefined) =>
        text ? html`<div class="excerpt"><h6>${title}</h6><q dir="auto">${clipped(text)}</q></div>` : undefined;
      const why = html`${sentence.rationale ? html`<p dir="auto">${clipped(sentence.rationale)}</p>` : undefined}${excerpt("Supported by", sentence.supportingExcerpt)}${excerpt("Contradicted by", sentence.contradictingExcerpt)}`;
      const what = html`<p dir="auto">${clipped(sentence.text)}</p>`;
      return findingRow(sentenceFinding(sentence), undefined, what, why.text === "" ? undefined : why);
    });
    const caption =
      step === undefined
        ? html`<caption class="vh">Sentences</caption>`
        : html`<caption>Step ${step + 1}<span class="vh">, sentences</span></caption>`;
    return findingsTable(caption, ["Label", "Sentence", "Why"], rows);
  });
}

/** Tokens, and how many answers did not say theirs. */
function usedTokens({ inputTokens, outputTokens, unreported = 0 }: JudgeUsage | SimulatorUsage): [string, string?] {
  const text = `${amountText(inputTokens)} in, ${amountText(outputTokens)} out`;
  return unreported > 0 ? [text, `(estimated for ${count(unreported, "answer")})`] : [text];
}

/** Who judged the metrics of a set, and what it took; nothing where no judge had a part. */
export function judgesSection(set: EvalSetResult): Markup | undefined {
  const usage = set.judgeUsage;
  const names = judgeNames([set]);
  const simulator = set.simulatorUsage;
  const unsent = usage?.unsent ?? 0;
  if (!usage && !simulator && names.length === 0) return undefined;
  const [spent, spentOnUsers] = [usage, simulator].map((one) => one && spentText(one));
  const fact = (label: string, value: string, more?: string) =>
    html`<div><dt>${label}</dt><dd>${value}${more ? html` <small>${more}</small>` : undefined}</dd></div>`;
  const repeated = usage?.retried ? `(${amountText(usage.retried)} repeated)` : undefined;
  const facts = usage
    ? [
        fact("Calls", amountText(usage.calls), repeated),
        usage.saved > 0
          ? fact("Saved by early stopping", amountText(usage.saved), atRiskText(usage, [set]).trim() || undefined)
          : undefined,
        usage.cached > 0 ? fact("Replies reused", amountText(usage.cached)) : undefined,
        usage.unread ? fact("Unreadable replies", amountText(usage.unread)) : undefined,
        usage.lost > unsent ? fact("Without a reply", amountText(usage.lost - unsent)) : undefined,
        unsent > 0 ? fact("Not asked", amountText(unsent)) : undefined,
        hasTokens(usage) ? fact("Tokens", ...usedTokens(usage)) : undefined,
        spent === undefined ? undefined : fact("Cost", spent),
      ]
    : [];
  const who =
    names.length > 0 ? fact(names.length > 1 ? "Judges" : "Judge", shorten(names.join(", "), 200)) : undefined;
  const played = simulator
    ? [
        fact("Simulated users", shorten(simulator.models?.join(", ") || "a model", 200)),
        fact(
          "Calls for simulated users",
          amountText(simulator.calls),
          simulator.lost > 0 ? `(${amountText(simulator.lost)} without a reply)` : undefined,
        ),
        simulator.cached ? fact("Replies reused for simulated users", amountText(simulator.cached)) : undefined,
        hasTokens(simulator) ? fact("Tokens for simulated users", ...usedTokens(simulator)) : undefined,
        spentOnUsers === undefined ? undefined : fact("Cost of simulated users", spentOnUsers),
      ]
    : [];
  const right = calibrationsText([set]);
  const labels = right === undefined ? undefined : fact("Agreement with people", shorten(right, 1000));
  return html`<div class="judges"><dl class="facts">${who}${labels}${facts}${played}</dl>
${stampsTable(set)}</div>
`;
}

function stampsTable({ judges = [] }: EvalSetResult): Markup | undefined {
  if (judges.length === 0) return undefined;
  const withPrompts = judges.some(({ prompts }) => Object.keys(prompts ?? {}).length > 0);
  const headings = [{ text: "Metric" }, { text: "Scored by" }, ...(withPrompts ? [{ text: "Prompts" }] : [])];
  const rows = judges.map(({ metricName, scoredBy, prompts, ...given }) => {
    const hashes = Object.entries(prompts ?? {}).map(
      ([name, hash]) => html`<li>${head(name, 100)} <code>${head(hash, 100)}</code></li>`,
    );
    return html`<tr><th scope="row">${breakable(metricName)}</th>
<td data-label="Scored by">${shortName({ scoredBy, ...given }, 200)}</td>
${withPrompts ? html`<td class="wide">${hashes.length > 0 ? html`<ul>${hashes}</ul>` : undefined}</td>` : undefined}</tr>`;
  });
  return html`<details class="stamps"><summary><svg class="chevron" aria-hidden="true"><use href="#icon-chevron"/></svg> How ${count(judges.length, "metric")} ${judges.length === 1 ? "was" : "were"} judged</summary>
${gridTable("Judges by metric", "stack", headings, rows)}</details>`;
}
