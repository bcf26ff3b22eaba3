/**
 * Results as an evaluation gives them, for all reports: two agents, several turns, every status, every
 * kind of difference, scripts other than Latin, and text that tries to be more than text.
 */

import { EvalStatus } from "../../pkg-template/src/enums.js";
import type {
  AlignmentEntry,
  EvalCaseResult,
  EvalMetricResult,
  EvalSetResult,
  FunctionCall,
  Invocation,
} from "../../pkg-template/src/types.js";

const { PASSED, FAILED, NOT_EVALUATED, INFORMATIONAL } = EvalStatus;

type Turn = EvalCaseResult["evalMetricResultPerInvocation"][number];

export function call(name: string, args?: Record<string, unknown>): FunctionCall {
  return args === undefined ? { name } : { name, args };
}

export function invocation(user: string, answer: string | undefined, calls: FunctionCall[] = []): Invocation {
  return {
    userContent: { role: "user", parts: [{ text: user }] },
    ...(answer === undefined ? {} : { finalResponse: { role: "model", parts: [{ text: answer }] } }),
    intermediateData: { toolUses: calls },
  };
}

/** A trajectory's result with its alignment. */
export function trajectory(alignment: AlignmentEntry[], score?: number): EvalMetricResult {
  const whole = alignment.every(({ kind }) => kind === "match");
  return {
    metricName: "tool_trajectory_avg_score",
    threshold: 1,
    score: score ?? (whole ? 1 : 0),
    evalStatus: whole ? PASSED : FAILED,
    explanation: { alignment },
  };
}

/** A ROUGE-like result: words of both texts matched in order, which is all a fixture needs. */
export function overlap(expected: string, actual: string, threshold = 0.8): EvalMetricResult {
  const words = (text: string) =>
    [...text.matchAll(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|[\p{L}\p{N}]+/gu)].map((match) => ({
      word: match[0].toLowerCase(),
      span: [match.index, match.index + match[0].length] satisfies [number, number],
    }));
  const [wanted, found] = [words(expected), words(actual)];
  const left = [...found];
  const matched = wanted.flatMap(({ word, span }) => {
    const at = left.findIndex((one) => one.word === word);
    const [one] = at < 0 ? [] : left.splice(at, 1);
    return one === undefined ? [] : [{ expected: span, actual: one.span }];
  });
  const precision = matched.length / Math.max(found.length, 1);
  const recall = matched.length / Math.max(wanted.length, 1);
  const score = matched.length === 0 ? 0 : (2 * precision * recall) / (precision + recall);
  return {
    metricName: "response_match_score",
    threshold,
    score,
    evalStatus: score >= threshold ? PASSED : FAILED,
    explanation: { tokens: { precision, recall, matched } },
  };
}

function efficiency(calls: number, input: number, output: number, seconds: number): EvalMetricResult[] {
  return [
    { metricName: "tool_call_count_v1", score: calls, evalStatus: INFORMATIONAL },
    { metricName: "inference_call_count_v1", score: calls + 1, evalStatus: INFORMATIONAL },
    {
      metricName: "token_usage_v1",
      score: input + output,
      evalStatus: INFORMATIONAL,
      details: {
        tokenUsageDetails: {
          totalTokens: input + output,
          inputTokens: input,
          promptTokens: input,
          cachedTokens: Math.floor(input / 3),
          outputTokens: output,
          candidatesTokens: output,
        },
      },
    },
    {
      metricName: "invocation_duration_v1",
      score: seconds,
      evalStatus: INFORMATIONAL,
      details: {
        durationDetails: {
          totalSeconds: seconds,
          modelSeconds: seconds * 0.75,
          toolSeconds: seconds * 0.2,
          frameworkSeconds: seconds * 0.05,
        },
      },
    },
  ];
}

export function turn(expected: Invocation | undefined, actual: Invocation, metrics: EvalMetricResult[]): Turn {
  return {
    actualInvocation: actual,
    ...(expected === undefined ? {} : { expectedInvocation: expected }),
    evalMetricResults: metrics,
  };
}

/** The rubrics of the first turn; the mean of every kind of tokens and seconds over the turns. */
function meanDetails(results: readonly EvalMetricResult[]): EvalMetricResult["details"] {
  const mean = (all: readonly Record<string, unknown>[]) =>
    Object.fromEntries(
      Object.keys(all[0] ?? {}).map((key) => [
        key,
        all.reduce((sum, one) => sum + Number(one[key] ?? 0), 0) / all.length,
      ]),
    );
  const first = results[0]?.details;
  return (
    first && {
      ...first,
      ...(first.tokenUsageDetails && {
        tokenUsageDetails: mean(results.map(({ details }) => ({ ...details?.tokenUsageDetails }))),
      }),
      ...(first.durationDetails && {
        durationDetails: mean(results.map(({ details }) => ({ ...details?.durationDetails }))),
      }),
    }
  );
}

/** A case whose overall results are the means of its turns' by metric. */
export function evalCase(evalSetId: string, evalId: string, turns: Turn[], reason?: string): EvalCaseResult {
  const names = [...new Set(turns.flatMap((one) => one.evalMetricResults.map((metric) => metric.metricName)))];
  const overall = names.map((metricName): EvalMetricResult => {
    const results = turns.flatMap((one) => one.evalMetricResults.filter((metric) => metric.metricName === metricName));
    const scores = results.flatMap(({ score }) => (score !== undefined && Number.isFinite(score) ? [score] : []));
    const { threshold, evalStatus, reason: why } = results[0] ?? { evalStatus: NOT_EVALUATED };
    const details = meanDetails(results);
    const score = scores.reduce((sum, one) => sum + one, 0) / scores.length;
    const status =
      evalStatus === INFORMATIONAL
        ? INFORMATIONAL
        : scores.length === 0
          ? NOT_EVALUATED
          : score >= (threshold ?? 0)
            ? PASSED
            : FAILED;
    return {
      metricName,
      evalStatus: status,
      ...(threshold === undefined ? {} : { threshold }),
      ...(scores.length === 0 ? {} : { score }),
      ...(details === undefined ? {} : { details }),
      ...(why === undefined || status !== NOT_EVALUATED ? {} : { reason: why }),
    };
  });
  const has = (status: EvalStatus) => overall.some(({ evalStatus }) => evalStatus === status);
  return {
    evalSetId,
    evalId,
    finalEvalStatus: has(FAILED) || overall.length === 0 ? FAILED : has(PASSED) ? PASSED : NOT_EVALUATED,
    overallEvalMetricResults: overall,
    evalMetricResultPerInvocation: turns,
    sessionId: `session-${evalId}`,
    ...(reason === undefined ? {} : { reason }),
  };
}

export function evalSet(evalSetId: string, cases: EvalCaseResult[]): EvalSetResult {
  return {
    evalSetResultId: `${evalSetId}_1773480600`,
    evalSetId,
    evalCaseResults: cases,
    creationTimestamp: 1773480600.25,
    engineVersion: "0.1.0",
    referenceVersion: "2.13.0",
    dialect: "adk-python",
  };
}

const TRAVEL = "travel_agent";

function response(user: string, expected: string, actual: string, calls: FunctionCall[] = []): Turn {
  const alignment = calls.map((_, at): AlignmentEntry => ({ kind: "match", expectedIndex: at, actualIndex: at }));
  return turn(invocation(user, expected, calls), invocation(user, actual, calls), [
    trajectory(alignment),
    overlap(expected, actual),
    ...efficiency(calls.length, 1840, 96, 2.125),
  ]);
}

function flightPasses(): EvalCaseResult {
  return evalCase(TRAVEL, "find_flight_zurich_tokyo", [
    response(
      "I need a flight from Zurich to Tokyo on 14 March, window seat please.",
      "LX 160 leaves Zurich at 13:00 and reaches Tokyo Narita at 08:50 the next day. A window seat is free: 27A.",
      "LX 160 leaves Zurich at 13:00 and reaches Tokyo Narita at 08:50 the next day. Window seat 27A is free.",
      [
        call("search_flights", { from: "ZRH", to: "NRT", date: "2026-03-14", cabin: "economy" }),
        call("find_seats", { flight: "LX160", kind: "window" }),
      ],
    ),
    response(
      "Great, book it.",
      "Booked: LX 160, seat 27A. Your reference is K3PQ7Z.",
      "Booked: LX 160, seat 27A. Your reference is K3PQ7Z.",
      [call("book_flight", { flight: "LX160", seat: "27A" })],
    ),
  ]);
}

function hotelChanged(): EvalCaseResult {
  const user = "Find a quiet hotel in Kyoto near the station for three nights, then hold the best one.";
  const expected =
    "The Granbell is quiet and five minutes from Kyoto station. I am holding a room for three nights at 92,400 yen.";
  const actual =
    "I found Hotel Granbell close to the station. It is now held for two nights. The price is 61,600 yen in total.";
  return evalCase(TRAVEL, "hold_hotel_kyoto", [
    turn(
      invocation(user, expected, [
        call("get_profile", { user: "u-1042" }),
        call("search_hotels", { city: "Kyoto", near: "station", filters: { quiet: true, price: [0, 40000] } }),
        call("get_rate", { hotel: "granbell", currency: "JPY" }),
        call("check_weather", { city: "Kyoto", day: "2026-03-16" }),
        call("hold_room", { hotel: "granbell", nights: 3, guest: { name: "Mina Frei", tier: "gold" } }),
      ]),
      invocation(user, actual, [
        call("search_hotels", { city: "Kyoto", near: "station", filters: { quiet: true, price: [0, 40000] } }),
        call("get_profile", { user: "u-1042" }),
        call("get_rate", { hotel: "granbell", currency: "JPY" }),
        call("hold_room", { hotel: "granbell", nights: 2, guest: { name: "Mina Frei", tier: "silver" }, notify: true }),
        call("send_email", { to: "mina.frei@example.com", template: "hold-confirmation" }),
      ]),
      [
        trajectory([
          { kind: "match", expectedIndex: 1, actualIndex: 0 },
          { kind: "moved", expectedIndex: 0, actualIndex: 1 },
          { kind: "match", expectedIndex: 2, actualIndex: 2 },
          { kind: "missing", expectedIndex: 3 },
          {
            kind: "arguments",
            expectedIndex: 4,
            actualIndex: 3,
            differences: [
              { path: "nights", expected: 3, actual: 2 },
              { path: "guest.tier", expected: "gold", actual: "silver" },
              { path: "notify", actual: true },
            ],
          },
          { kind: "extra", actualIndex: 4 },
        ]),
        overlap(expected, actual),
        ...efficiency(5, 6210, 310, 7.48),
      ],
    ),
    response("Thanks, that is all.", "You are welcome. Safe travels!", "You are welcome. Safe travels!"),
  ]);
}

function japanese(): EvalCaseResult {
  const user = "京都で静かな旅館を探してください 🗻";
  const expected = "京都駅から徒歩5分の静かな旅館「花水木」をおすすめします。";
  const actual = "静かな旅館なら「花水木」です。京都駅から歩いて5分です 👨‍👩‍👧。";
  return evalCase(TRAVEL, "旅館を探す_🗻", [
    turn(
      invocation(user, expected, [call("search_hotels", { city: "京都", 種類: "旅館" })]),
      invocation(user, actual, [call("search_hotels", { city: "京都市", 種類: "旅館" })]),
      [
        trajectory([
          {
            kind: "arguments",
            expectedIndex: 0,
            actualIndex: 0,
            differences: [{ path: '["city"]', expected: "京都", actual: "京都市" }],
          },
        ]),
        overlap(expected, actual),
        ...efficiency(1, 910, 74, 1.9),
      ],
    ),
  ]);
}

function noAnswer(): EvalCaseResult {
  const user = "Cancel booking K3PQ7Z and refund it to my card.";
  const expected = "Your booking K3PQ7Z is cancelled. 1,240 CHF go back to your card within five days.";
  return evalCase(TRAVEL, "cancel_and_refund", [
    turn(
      invocation(user, expected, [call("cancel_booking", { reference: "K3PQ7Z" }), call("refund", {})]),
      invocation(user, undefined, []),
      [
        trajectory([
          { kind: "missing", expectedIndex: 0 },
          { kind: "missing", expectedIndex: 1 },
        ]),
        {
          ...overlap(expected, ""),
          explanation: {
            tokens: { precision: 0, recall: 0, matched: [] },
            warnings: ["The actual response has no text, so nothing can match."],
          },
        },
        { metricName: "token_usage_v1", evalStatus: INFORMATIONAL },
      ],
    ),
  ]);
}

export function travelSet(): EvalSetResult {
  const smallTalk = ["say_hello", "change_seat", "ask_baggage", "ask_visa"].map((evalId, at) =>
    evalCase(TRAVEL, evalId, [
      response(
        ["Hello!", "Can I have an aisle seat instead?", "How many bags may I bring?", "Do I need a visa for Japan?"][
          at
        ] ?? "",
        [
          "Hello! Where would you like to go?",
          "Seat 27C on the aisle is yours.",
          "Two bags of 23 kg each are included.",
          "With a Swiss passport you need none for stays of up to 90 days.",
        ][at] ?? "",
        [
          "Hello! Where would you like to go today?",
          "Seat 27C on the aisle is yours.",
          "Two bags of up to 23 kg each are included.",
          "With a Swiss passport you need none for a stay of up to 90 days.",
        ][at] ?? "",
        at === 1 ? [call("change_seat", { reference: "K3PQ7Z", seat: "27C" })] : [],
      ),
    ]),
  );
  return evalSet(TRAVEL, [flightPasses(), hotelChanged(), ...smallTalk, japanese(), noAnswer()]);
}

const SUPPORT = "support_agent.evalset";

export function supportSet(): EvalSetResult {
  const quota = "The judge could not be reached: 429 Too Many Requests after 7 attempts.";
  const judged = (evalId: string, scores: [number, number], rubrics: [string, number, string][]): EvalCaseResult => {
    const user = "My parcel says delivered, but it is not here. What now?";
    const answer = "I am sorry. I opened a trace with the carrier; you will hear from us within two days.";
    return evalCase(SUPPORT, evalId, [
      turn(undefined, invocation(user, answer, [call("open_trace", { parcel: "99.00.1" })]), [
        {
          metricName: "rubric_based_final_response_quality_v1",
          threshold: 0.75,
          score: scores[0],
          evalStatus: scores[0] >= 0.75 ? PASSED : FAILED,
          details: { rubricScores: rubrics.map(([rubricId, score, rationale]) => ({ rubricId, score, rationale })) },
        },
        {
          metricName: "response_evaluation_score",
          threshold: 3.5,
          score: scores[1],
          evalStatus: scores[1] >= 3.5 ? PASSED : FAILED,
        },
        ...efficiency(1, 2400, 180, 3.2),
      ]),
    ]);
  };
  const unjudged = evalCase(SUPPORT, "angry_customer", [
    turn(undefined, invocation("This is the third time!", "I understand, and I am sorry."), [
      { metricName: "hallucinations_v1", threshold: 0.9, evalStatus: NOT_EVALUATED, reason: quota },
    ]),
  ]);
  const rubrics: [string, number, string][] = [
    ["names_next_step", 1, "The answer says that a trace was opened and when to expect news."],
    ["is_empathetic", 0, "It apologises, but does not acknowledge what the delay means to the customer."],
  ];
  const failedInference = evalCase(
    SUPPORT,
    "refund_policy",
    [],
    "Inference failed: the agent raised TimeoutError after 60 s.",
  );
  return {
    ...evalSet(SUPPORT, [
      judged(
        "lost_parcel",
        [1, 4.2],
        [
          ["names_next_step", 1, "It does."],
          ["is_empathetic", 1, "It does."],
        ],
      ),
      judged("lost_parcel", [0.5, 3.1], rubrics),
      unjudged,
      failedInference,
    ]),
    warnings: [
      {
        code: "invalid_criterion",
        message: "The criterion has an unknown key num_sample.",
        path: "$.criteria.hallucinations_v1",
        line: 7,
        help: "Did you mean num_samples?",
      },
    ],
  };
}

/** Text that would break out of each format if it could. */
export const HOSTILE = [
  "</summary></details><script>alert(1)</script><img src=x onerror=alert(2)>",
  "``` \n</details> | pipe | `code` ````` **bold** [x](javascript:alert(1)) @everyone #1",
  "\u202Egnp.exe\u202C \u001b[31mred\u001b[0m \u0007 \u0000 \uFFFE \uD800 ]]> &amp; <![CDATA[",
  '=HYPERLINK("http://evil.example")',
].join("\n");

export function hostileSet(): EvalSetResult {
  const huge = "A very long answer that never ends. ".repeat(30_000);
  const user = HOSTILE;
  const id = "=cmd|' /C calc'!A0 \"><script>alert(1)</script>";
  return evalSet(id, [
    evalCase(id, HOSTILE, [
      turn(
        invocation(user, HOSTILE, [call(HOSTILE, { [HOSTILE]: HOSTILE, nested: { "</script>": ["\u202E", huge] } })]),
        invocation(user, huge, [call(HOSTILE, { [HOSTILE]: "other", count: 12345678901234567890n, bare: null })]),
        [
          trajectory([
            {
              kind: "arguments",
              expectedIndex: 0,
              actualIndex: 0,
              differences: [{ path: `["${HOSTILE}"]`, expected: HOSTILE, actual: huge }],
            },
          ]),
          { ...overlap(HOSTILE, "bold pipe code"), reason: HOSTILE },
          { metricName: `${HOSTILE}|metric`, evalStatus: NOT_EVALUATED, reason: HOSTILE, score: Number.NaN },
        ],
      ),
    ]),
  ]);
}

export function emptySet(): EvalSetResult {
  return evalSet("empty", []);
}

/** A set of `size` cases of two turns, one in seven failing. */
export function largeSet(size: number): EvalSetResult {
  const [passes, fails] = [flightPasses(), hotelChanged()];
  return evalSet(
    "nightly_regression",
    Array.from({ length: size }, (_, at) => ({
      ...(at % 7 === 3 ? fails : passes),
      evalId: `case_${String(at).padStart(4, "0")}`,
    })),
  );
}
