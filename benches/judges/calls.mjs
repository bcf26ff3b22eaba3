/**
 * What a call of a judge costs the process that makes it, by `evaluate()` and by a plain loop of `fetch` with a limiter, at a
 * server in another process that answers at once.
 *
 *     node benches/judges/calls.mjs        # --calls 5000 --concurrency 32 --rounds 5 --words 300
 *
 * Prints medians of the processor's time a call, of calls a second, and the most memory. The contenders take turns.
 */
import { fork } from "node:child_process";
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

if (process.argv[2] === "--serve") serve();
else await measure();

/** A server of OpenAI's protocol that always says the same. */
function serve() {
  const REPLY = JSON.stringify({ reasoning: "Same.", is_the_agent_response_valid: "valid" });
  const choices = [{ message: { content: REPLY }, finish_reason: "stop" }];
  const usage = { prompt_tokens: 900, completion_tokens: 20, total_tokens: 920 };
  const answer = JSON.stringify({ model: "m", choices, usage });
  const server = createServer((request, response) => {
    request.resume().on("end", () => {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(answer);
    });
  });
  server.listen(0, "127.0.0.1", () => process.send(server.address().port));
}

async function measure() {
  const { evaluate, openaiJudge } = await (await import("../../tests/package/support/package.mjs")).importEntry();
  const { values } = parseArgs({
    options: {
      calls: { type: "string", default: "5000" },
      concurrency: { type: "string", default: "32" },
      rounds: { type: "string", default: "5" },
      words: { type: "string", default: "300" },
    },
  });
  const [calls, concurrency, rounds, words] = [values.calls, values.concurrency, values.rounds, values.words].map(
    Number,
  );

  const turn = (id) => ({
    userContent: { role: "user", parts: [{ text: `What about ${id}?` }] },
    finalResponse: { role: "model", parts: [{ text: `All is well with ${id}. `.repeat(words / 5) }] },
  });
  const evalCases = Array.from({ length: calls }, (_, at) => ({
    evalId: `case-${at}`,
    conversation: [turn(`case-${at}`)],
  }));
  const evalSet = { evalSetId: "calls", evalCases };

  const contenders = {
    /** The prompts are as long as ours, and made before the time counts. */
    async "a loop of fetch"(url, prompts) {
      let next = 0;
      let valid = 0;
      const work = async () => {
        while (next < prompts.length) {
          const messages = [{ role: "user", content: prompts[next++] }];
          const response = await fetch(`${url}/chat/completions`, {
            method: "POST",
            headers: { "content-type": "application/json", authorization: "Bearer none" },
            body: JSON.stringify({ model: "m", messages }),
          });
          const { choices } = await response.json();
          if (JSON.parse(choices[0].message.content).is_the_agent_response_valid === "valid") valid += 1;
        }
      };
      await Promise.all(Array.from({ length: concurrency }, work));
      return valid;
    },
    async "evaluate()"(url) {
      const set = await evaluate({
        evalSet,
        actual: evalSet,
        criteria: { final_response_match_v2: { threshold: 0.5, judge_model_options: { num_samples: 1 } } },
        judge: openaiJudge({ apiKey: "none", baseUrl: url, model: "m" }),
        concurrency,
        explain: "none",
      });
      return set.evalCaseResults.filter(({ finalEvalStatus }) => finalEvalStatus === 1).length;
    },
  };

  const server = fork(fileURLToPath(import.meta.url), ["--serve"]);
  try {
    const port = await new Promise((resolve) => server.once("message", resolve));
    const url = `http://127.0.0.1:${port}/v1`;
    const prompts = await promptsOf(evaluate, evalSet);
    const found = new Map(Object.keys(contenders).map((name) => [name, { processor: [], rate: [], memory: [] }]));
    for (let round = 0; round < rounds; round += 1) {
      for (const [name, run] of Object.entries(contenders)) {
        globalThis.gc?.();
        const samples = found.get(name);
        const began = performance.now();
        const before = process.cpuUsage();
        if ((await run(url, prompts)) !== calls) throw new Error(`${name} has lost verdicts`);
        const { user, system } = process.cpuUsage(before);
        samples.processor.push((user + system) / 1000 / calls);
        samples.rate.push(calls / ((performance.now() - began) / 1000));
        samples.memory.push(process.memoryUsage().rss / 1e6);
      }
    }
    const plain = median(found.get("a loop of fetch").processor);
    console.log(`${calls} calls, ${concurrency} at a time, prompts of ${prompts[0].length} characters\n`);
    console.log("| | processor time a call | of the loop | calls a second | memory after |\n| - | -: | -: | -: | -: |");
    for (const [name, { processor, rate, memory }] of found) {
      const time = median(processor);
      const row = [`${time.toFixed(2)} ms`, `${(time / plain).toFixed(2)}×`, median(rate).toFixed(0)];
      console.log(`| ${[name, ...row, `${median(memory).toFixed(0)} MB`].join(" | ")} |`);
    }
  } finally {
    server.kill();
  }
}

/** The prompts that a judge is asked. */
async function promptsOf(evaluate, evalSet) {
  const prompts = [];
  await evaluate({
    evalSet,
    actual: evalSet,
    criteria: { final_response_match_v2: { threshold: 0.5, judge_model_options: { num_samples: 1 } } },
    judge: async ({ prompt }) => {
      prompts.push(prompt);
      return '{"reasoning": "Same.", "is_the_agent_response_valid": "valid"}';
    },
    explain: "none",
  });
  return prompts;
}

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}
