import { evaluate, rouge1 } from "adk-metrics";
import "adk-metrics/vitest";
import { expect, test } from "vitest";

const turn = { userContent: { parts: [{ text: "Weather?" }] }, finalResponse: { parts: [{ text: "It is sunny" }] } };
const evalSet = { evalSetId: "weather", evalCases: [{ evalId: "sunny", conversation: [turn] }] };

test("scores in a page", () => {
  expect(document.body).toBeInstanceOf(HTMLElement);
  expect(String(rouge1("The weather is sunny", "It is sunny").fmeasure)).toBe("0.5714285714285715");
});

test("has the matchers in a page", async () => {
  const result = await evaluate({ evalSet, actual: evalSet, criteria: { response_match_score: 0.8 } });
  expect(result).toPass();
});
