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

/** Every parity vector that JavaScript can hold, some of those of judged metrics, and a whole evalset. */
function sample() {
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

/**
 * Makes a project and starts what its programs talk to. `expected` is what Node finds, to which `npm test` holds the
 * reference's scores.
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
  project.write({
    "given.json": JSON.stringify(sample()),
    "where.mjs": `export const given = "${pages.origin}/given.json";\nexport const judge = "${judge.url}/v1";\n`,
    "main.mjs": `import * as adk from "adk-metrics"; import { found } from "./program.mjs";
      console.log(JSON.stringify(await found(adk)));`,
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
    const expected = await found(await moduleAt("node_modules/adk-metrics/dist/esm/node.js"));
    return { ...project, judge, pages, expected, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
