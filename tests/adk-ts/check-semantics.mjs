// Shows that SEMANTICS.md says all there is: the rules written there, implemented once more, give the recorded
// answer for every vector, and its token rule agrees with RougeEvaluator for every code point.

import { readFileSync } from "node:fs";
import { RougeEvaluator } from "@iqai/adk";

const PASSED = 1;
const FAILED = 2;
const NOT_EVALUATED = 3;

const statusOf = (score, threshold) => (score >= threshold ? PASSED : FAILED);

const isWord = (code) =>
  (code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x5a) || code === 0x5f || (code >= 0x61 && code <= 0x7a);

/** The token rule: runs of ASCII word characters, with the two code points that lower-case into ASCII. */
function tokens(text) {
  const found = new Set();
  let run = "";
  const end = () => {
    if (run !== "") found.add(run);
    run = "";
  };
  for (const character of text) {
    const code = character.codePointAt(0);
    if (isWord(code)) run += code <= 0x5a && code >= 0x41 ? String.fromCharCode(code + 32) : character;
    else if (code === 0x212a) run += "k";
    else {
      if (code === 0x130) run += "i";
      end();
    }
  }
  end();
  return found;
}

function fmeasure(response, reference) {
  const [candidate, expected] = [tokens(response), tokens(reference)];
  const common = [...candidate].filter((token) => expected.has(token)).length;
  if (common === 0) return 0;
  const precision = common / candidate.size;
  const recall = common / expected.size;
  return (2 * precision * recall) / (precision + recall);
}

const responseText = (invocation) => (invocation.finalResponse?.parts || []).map((part) => part.text || "").join("\n");

function rouge({ threshold }, actual, expected) {
  const perInvocationResults = actual.map((invocation, index) => {
    const score = fmeasure(responseText(invocation), responseText(expected[index]));
    return { score, evalStatus: statusOf(score, threshold) };
  });
  if (perInvocationResults.length === 0)
    return { overallScore: null, overallEvalStatus: NOT_EVALUATED, perInvocationResults };
  const overallScore = perInvocationResults.reduce((sum, { score }) => sum + score, 0) / perInvocationResults.length;
  return { overallScore, overallEvalStatus: statusOf(overallScore, threshold), perInvocationResults };
}

const isArrayIndex = (key) => /^(0|[1-9][0-9]{0,9})$/.test(key) && Number(key) <= 4294967294;

/** The keys of a nested object in the order that counts: array indices by value, then the rest as first written. */
function orderedKeys(object) {
  const keys = Object.keys(object);
  const indices = keys.filter(isArrayIndex).sort((a, b) => Number(a) - Number(b));
  return [...indices, ...keys.filter((key) => !isArrayIndex(key))];
}

function sameValue(a, b) {
  if (a === null || b === null || typeof a !== "object" || typeof b !== "object") {
    const [left, right] = [a, b].map((value) => (typeof value === "number" && !Number.isFinite(value) ? null : value));
    return left === right;
  }
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const [keys, others] = [orderedKeys(a), orderedKeys(b)];
  return (
    keys.length === others.length && keys.every((key, index) => key === others[index] && sameValue(a[key], b[key]))
  );
}

function sameCall(actual, expected) {
  const [args, others] = [actual.args || {}, expected.args || {}];
  const keys = Object.keys(args);
  return (
    actual.name === expected.name &&
    keys.length === Object.keys(others).length &&
    keys.every((key) => Object.hasOwn(others, key) && sameValue(args[key], others[key]))
  );
}

function trajectory({ threshold }, actual, expected) {
  const perInvocationResults = actual.map((invocation, index) => {
    const made = invocation.intermediateData?.toolUses;
    const wanted = made && expected[index].intermediateData?.toolUses;
    if (!wanted) return { score: null, evalStatus: NOT_EVALUATED };
    const score = made.length === wanted.length && made.every((call, at) => sameCall(call, wanted[at])) ? 1 : 0;
    return { score, evalStatus: statusOf(score, threshold) };
  });
  const scores = perInvocationResults.map(({ score }) => score).filter((score) => score !== null);
  const overallScore = scores.length === 0 ? 0 : scores.reduce((sum, score) => sum + score, 0) / scores.length;
  return { overallScore, overallEvalStatus: statusOf(overallScore, threshold), perInvocationResults };
}

function checkVectors(name, read) {
  let differing = 0;
  const { cases } = JSON.parse(readFileSync(new URL(name, import.meta.url), "utf8"));
  const checked = cases.filter((one) => !one.name.startsWith("malformed/") && one.result.error === undefined);
  for (const one of checked) {
    const evaluate = one.metric.metricName.startsWith("tool_trajectory") ? trajectory : rouge;
    const answer = evaluate(one.metric, ...read(one));
    if (JSON.stringify(answer) !== JSON.stringify(one.result)) {
      differing++;
      console.error(
        `${name}: ${one.name}: the rules give ${JSON.stringify(answer)}, recorded is ${JSON.stringify(one.result)}`,
      );
    }
  }
  console.log(`${name}: ${checked.length} cases checked, ${differing} differ`);
  return differing;
}

/** A score of 1 means equal token sets, so each code point between two letters is compared with its predicted tokens. */
async function checkCodePoints() {
  const says = (text) => ({ userContent: {}, finalResponse: { parts: [{ text }] }, creationTimestamp: 0 });
  const texts = [];
  for (let code = 0; code <= 0x10ffff; code++) {
    if (code < 0xd800 || code > 0xdfff) texts.push(`A${String.fromCodePoint(code)}b`);
  }
  const { perInvocationResults } = await new RougeEvaluator({
    metricName: "response_match_score",
    threshold: 1,
  }).evaluateInvocations(
    texts.map(says),
    texts.map((text) => says([...tokens(text)].join(" "))),
  );
  const differing = perInvocationResults.filter(({ score }) => score !== 1).length;
  console.log(`code points: ${texts.length} checked, ${differing} differ`);
  return differing;
}

const differing =
  checkVectors("vectors.json", ({ actual, expected }) => [actual, expected]) +
  checkVectors("vectors-text.json", ({ actualText, expectedText }) => [
    JSON.parse(actualText),
    JSON.parse(expectedText),
  ]) +
  (await checkCodePoints());
process.exitCode = differing === 0 ? 0 : 1;
