/** Completes the recordings of the examples, which come without the questions: those are asked again, and given the replies. */

import { evaluate, type JudgeReply, recordJudge } from "adk-metrics/web";
import { placeOf } from "./example-place.js";
import { outcomeOf } from "./problems.js";
import type { Examples } from "./protocol-examples.js";

export function examples(ready: Promise<void>): Examples {
  return {
    recordingOf: ({ evalSet, actual, config, replies }) =>
      outcomeOf(async () => {
        await ready;
        const [header = "", ...lines] = replies.split("\n");
        const { model, note } = JSON.parse(header) as { model: string; note: string };
        const byPlace = new Map(lines.map((line) => JSON.parse(line) as [string, JudgeReply]));
        let recording = "";
        const judge = recordJudge(
          async (request) => {
            const reply = byPlace.get(placeOf(request));
            if (reply === undefined) throw new RangeError("The example has no reply for this question.");
            return reply;
          },
          (line) => void (recording += line),
          { model, note },
        );
        await evaluate({ evalSet, actual, config, judge, earlyStop: false, explain: "none", concurrency: 1 });
        return recording;
      }),
  };
}
