// What the suites share: a project with the package, a judge on loopback, the sample, and what Node finds in it.

import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { startServer } from "../providers/server.mjs";
import { elements, members, survivesJavaScript } from "../package/support/json-text.mjs";
import { manyCases } from "../package/support/conversations.mjs";
import { testFile } from "../package/support/package.mjs";
import { makeProject } from "./project.mjs";
import { serveFolder } from "./server.mjs";

const VECTORS = ["response_match.json", "efficiency.json"];
const JUDGED = [
  "final_response_match_v2",
  "hallucinations_v1",
  "per_turn_user_simulator_quality_v1",
  "rubric_based_final_response_quality_v1",
  "rubric_based_multi_turn_trajectory_quality_v1",
  "rubric_based_tool_use_quality_v1",
];

/** Every so many of the vectors of judged metrics: their calls take nearly all the time, in one runtime as in the other. */
const EVERY = 9;

/** Every so many of what the whole sample has of a metric: each engine of JavaScript gets all once, and then these. */
const FEW = 40;

/** Every parity vector that JavaScript can hold, some of those of judged metrics, and a whole evalset. */
export function wholeSample() {
  const { pairs } = JSON.parse(testFile("parity/vectors/rouge.json"));
  const casesOf = (name) =>
    elements(members(testFile(`parity/vectors/${name}`)).cases)
      .filter(survivesJavaScript)
      .map((text) => JSON.parse(text));
  const judged = JUDGED.flatMap((name) =>
    testFile(`parity/vectors/judged_${name}.jsonl`)
      .trim()
      .split("\n")
      .filter((_, at) => at % EVERY === 0)
      .map((line) => JSON.parse(line)),
  );
  return {
    pairs,
    cases: casesOf("trajectory.json"),
    conversations: {
      evalSet: JSON.stringify(manyCases(50)),
      actual: manyCases(50, (index) => `answer ${index} is the ${index % 7}`),
    },
    vectors: [...VECTORS.flatMap(casesOf), ...judged],
  };
}

/** The metric that a vector is of. */
export const metricOf = ({ metric }) => metric.metric_name;

/** A few of each kind in the whole sample, by which the same code runs; the whole takes seconds each time. */
export function smallSample({ pairs, cases, conversations, vectors }) {
  const few = (list) => list.filter((_, at) => at % FEW === 0);
  const metrics = [...new Set(vectors.map(metricOf))];
  const fewOfEach = metrics.flatMap((name) => few(vectors.filter((vector) => metricOf(vector) === name)));
  return { pairs: few(pairs), cases: few(cases), conversations, vectors: fewOfEach };
}

/**
 * Makes a project and starts what its programs talk to. `expected` is what Node finds in the small sample, `expectedOfWhole()`
 * what it finds in the whole, to which `npm test` holds the reference's scores.
 */
export async function start() {
  const project = await makeProject();
  const judge = await startServer({
    reply: ({ prompt }) => `{"is_the_agent_response_valid": "${prompt.includes("雨") ? "invalid" : "valid"}"}`,
  });
  const strict = [
    "default-src 'none'",
    "script-src 'self' 'wasm-unsafe-eval'",
    "worker-src 'self'",
    `connect-src 'self' ${judge.url}`,
  ].join("; ");
  const pages = await serveFolder(project.folder, {
    "content-security-policy": strict,
    "access-control-allow-origin": "*",
  });
  const whole = wholeSample();
  project.write({
    "small.json": JSON.stringify(smallSample(whole)),
    "whole.json": JSON.stringify(whole),
    "where.mjs": `export const small = "${pages.origin}/small.json";
      export const whole = "${pages.origin}/whole.json";
      export const judge = "${judge.url}/v1";`,
    "main.mjs": `import * as adk from "adk-metrics"; import { found } from "./program.mjs";
      console.log(JSON.stringify(await found(adk)));`,
    "whole.mjs": `import * as adk from "adk-metrics"; import { found } from "./program.mjs"; import { whole } from "./where.mjs";
      console.log(JSON.stringify(await found(adk, whole)));`,
    "web.mjs": `import * as adk from "adk-metrics/web"; import { found } from "./program.mjs";
      await adk.init();
      console.log(JSON.stringify(await found(adk)));`,
  });
  const stop = async () => {
    await pages.close();
    await judge.close();
    project.remove();
  };
  try {
    const moduleAt = (path) => import(pathToFileURL(join(project.folder, path)).href);
    const { found } = await moduleAt("program.mjs");
    const adk = await moduleAt("node_modules/adk-metrics/dist/esm/node.js");
    const expected = await found(adk);
    let ofWhole;
    const expectedOfWhole = () => (ofWhole ??= found(adk, `${pages.origin}/whole.json`));
    return { ...project, judge, pages, expected, expectedOfWhole, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
