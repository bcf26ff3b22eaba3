// The models that samples ask. A judge is fair (`../judges/trip.mjs`). The model of an agent does what
// `examples/weather/weather.evalset.json` expects: it calls the tools, then gives the answer. A simulated user ends the
// conversation.

import { readFileSync } from "node:fs";
import { fair } from "../judges/trip.mjs";

const evalSet = new URL("../../examples/weather/weather.evalset.json", import.meta.url);
const TURNS = JSON.parse(readFileSync(evalSet, "utf8")).eval_cases.flatMap(({ conversation }) => conversation);

const textOf = (content) => (content?.parts ?? []).map(({ text }) => text ?? "").join("");

export function reply(asked) {
  const { prompt, body } = asked;
  if (/<data-\S+ name="(?!conversation_plan)|is_the_agent_response_valid|"is_valid"|"score"/.test(prompt))
    return fair(asked);
  const contents = body.contents ?? [{ parts: [{ text: prompt }] }];
  const since = contents.findLastIndex((content) => TURNS.some(({ user_content }) => asks(content, user_content)));
  if (since < 0) return "</finished>";
  const turn = TURNS.find(({ user_content }) => asks(contents[since], user_content));
  const called = contents.slice(since).some(({ parts }) => parts?.some(({ functionResponse }) => functionResponse));
  const calls = turn.intermediate_data.tool_uses.map(({ name, args }) => ({ name, args }));
  return called || calls.length === 0 || !body.tools ? textOf(turn.final_response) : { calls };
}

const asks = (content, question) => textOf(content).endsWith(textOf(question));
