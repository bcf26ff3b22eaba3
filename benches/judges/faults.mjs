/**
 * How long 2,000 calls of a judge take at a server that fails some of them, by `evaluate()` and by a plain limiter: so
 * many calls at a time, each tried again by itself after `Retry-After`, or else half a second, then twice as long each
 * time. A call that waits gives its place to another, in both.
 *
 *     node benches/judges/faults.mjs        # --calls 2000 --concurrency 32 --latency 50 --percent 0,5,30
 *
 * A quarter of the faults each: 429 with `Retry-After` of one or two seconds, 500, 503, a connection that is reset. Ends
 * with 1 if a verdict is lost.
 */
import { createServer } from "node:http";
import { parseArgs } from "node:util";
import { importEntry } from "../../tests/package/support/package.mjs";

const { evaluate, openaiJudge } = await importEntry();

const { values } = parseArgs({
  options: {
    calls: { type: "string", default: "2000" },
    concurrency: { type: "string", default: "32" },
    latency: { type: "string", default: "50" },
    percent: { type: "string", default: "0,5,30" },
  },
});
const [calls, concurrency, latency] = [values.calls, values.concurrency, values.latency].map(Number);
const REPLY = JSON.stringify({ reasoning: "Same.", is_the_agent_response_valid: "valid" });

/** A number from 0 to 1 that is the same for the same text, so that both meet the same faults. */
function chanceOf(text) {
  let hash = 2166136261;
  for (const unit of text) hash = Math.imul(hash ^ unit.charCodeAt(0), 16777619);
  hash = Math.imul(hash ^ (hash >>> 15), 2246822507);
  hash = Math.imul(hash ^ (hash >>> 13), 3266489909);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}

/** A server of OpenAI's protocol that fails so many of 100 requests. */
async function startServer(percent) {
  const attempts = new Map();
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8");
    request.on("data", (piece) => (body += piece));
    request.on("end", () => {
      const which = /case-\d+/.exec(body)?.[0] ?? "";
      const attempt = (attempts.get(which) ?? 0) + 1;
      attempts.set(which, attempt);
      const chance = (what) => chanceOf(`${which}/${attempt}/${what}`);
      const send = (status, headers, json) => {
        response.writeHead(status, { "content-type": "application/json", ...headers });
        response.end(JSON.stringify(json));
      };
      setTimeout(
        () => {
          if (chance("fails") * 100 >= percent) {
            send(200, {}, { model: "m", choices: [{ message: { content: REPLY }, finish_reason: "stop" }] });
            return;
          }
          const fault = Math.floor(chance("fault") * 4);
          if (fault === 0)
            send(429, { "retry-after": chance("wait") < 0.5 ? "1" : "2" }, { error: { message: "slow" } });
          else if (fault === 1) send(500, {}, { error: { message: "failed" } });
          else if (fault === 2) send(503, {}, { error: { message: "overloaded" } });
          else request.socket.resetAndDestroy();
        },
        latency * (0.5 + chance("latency")),
      );
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = () => new Promise((resolve) => (server.close(resolve), server.closeAllConnections()));
  return { url: `http://127.0.0.1:${server.address().port}/v1`, close };
}

const turn = (id) => ({
  userContent: { role: "user", parts: [{ text: `What about ${id}?` }] },
  finalResponse: { role: "model", parts: [{ text: "All is well." }] },
});
const evalSet = {
  evalSetId: "faults",
  evalCases: Array.from({ length: calls }, (_, at) => ({ evalId: `case-${at}`, conversation: [turn(`case-${at}`)] })),
};

async function ours(url) {
  const set = await evaluate({
    evalSet,
    actual: evalSet,
    criteria: { final_response_match_v2: { threshold: 0.5, judge_model_options: { num_samples: 1 } } },
    judge: openaiJudge({ apiKey: "none", baseUrl: url, model: "m" }),
    concurrency,
  });
  const scored = set.evalCaseResults.filter(({ overallEvalMetricResults: [metric] }) => metric.score === 1).length;
  return { scored, sent: set.judgeUsage.calls };
}

async function plainLimiter(url) {
  const ready = Array.from({ length: calls }, (_, at) => ({ at, attempt: 1 }));
  let [inFlight, scored, sent] = [0, 0, 0];
  await new Promise((resolve) => {
    const next = () => {
      while (inFlight < concurrency && ready.length > 0) void attempt(ready.shift());
      if (scored === calls) resolve();
    };
    const attempt = async (task) => {
      inFlight += 1;
      sent += 1;
      let wait = 500 * 2 ** Math.min(task.attempt - 1, 4);
      let isDone = false;
      try {
        const body = JSON.stringify({
          model: "m",
          messages: [{ role: "user", content: `What about case-${task.at}?` }],
        });
        const response = await fetch(`${url}/chat/completions`, { method: "POST", body });
        await response.text();
        isDone = response.ok;
        const after = response.headers.get("retry-after");
        if (after !== null) wait = Number(after) * 1000;
      } catch {
        // The connection was reset.
      }
      inFlight -= 1;
      if (isDone) scored += 1;
      else {
        const again = () => {
          ready.unshift({ at: task.at, attempt: task.attempt + 1 });
          next();
        };
        setTimeout(again, wait);
      }
      next();
    };
    next();
  });
  return { scored, sent };
}

async function timed(percent, contender) {
  const server = await startServer(percent);
  const began = performance.now();
  const { scored, sent } = await contender(server.url);
  const seconds = (performance.now() - began) / 1000;
  await server.close();
  if (scored !== calls) process.exitCode = 1;
  return { seconds, scored, sent };
}

console.log(`${calls} calls, ${concurrency} at a time, answered after ${latency} ms\n`);
console.log("| faults | plain limiter | adk-metrics | ratio | calls of both | verdicts |");
console.log("| -----: | ------------: | ----------: | ----: | ------------: | -------: |");
for (const percent of values.percent.split(",").map(Number)) {
  const plain = await timed(percent, plainLimiter);
  const own = await timed(percent, ours);
  const [a, b] = [plain, own].map(({ seconds }) => `${seconds.toFixed(1)} s`);
  const ratio = `${(own.seconds / plain.seconds).toFixed(2)}×`;
  console.log(`| ${percent}% | ${a} | ${b} | ${ratio} | ${plain.sent}, ${own.sent} | ${own.scored} |`);
}
