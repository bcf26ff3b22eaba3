// The same scoring in Node and in the browser, on a sample of the parity vectors. Runs in both; imports nothing.

/** Scores of texts and conversations, as the bits of their doubles, so that they are compared exactly. */
export async function scoresOf({ evaluate, rouge1, TrajectoryEvaluator }, { pairs, cases, conversations }) {
  const numbers = [];
  for (const { reference, candidate } of pairs) {
    const { precision, recall, fmeasure } = rouge1(reference, candidate);
    numbers.push(precision, recall, fmeasure);
  }
  for (const { metric, actual, expected } of cases) {
    const { metric_name: metricName, ...settings } = metric;
    const evaluator = new TrajectoryEvaluator({ metricName, ...settings });
    const result = await evaluator.evaluateInvocations(actual, expected).catch(({ code }) => ({ code }));
    if (result.code !== undefined) numbers.push(NaN, result.code.length);
    else
      numbers.push(
        result.overallScore ?? -1,
        result.overallEvalStatus,
        ...result.perInvocationResults.map(({ score }) => score ?? -1),
      );
  }
  const set = await evaluate({ ...conversations, criteria: { response_match_score: 0.8, tool_trajectory_f1: 0.5 } });
  for (const { finalEvalStatus, overallEvalMetricResults } of set.evalCaseResults) {
    numbers.push(finalEvalStatus, ...overallEvalMetricResults.map(({ score }) => score ?? -1));
  }
  const bits = new BigUint64Array(Float64Array.from(numbers).buffer);
  return Array.from(bits, (one) => one.toString(16));
}
