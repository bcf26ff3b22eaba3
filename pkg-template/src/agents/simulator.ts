/**
 * Plays the user of a case with a conversation scenario: says the starting prompt, then asks a model what the user says
 * next, until it gives the stop signal or the limit of turns is reached. The model is asked as judges are.
 */

import { keysHelp } from "../closest.js";
import { isObject, messageOf, reading, unexpected } from "../engine/values.js";
import { withEngine } from "../engine/instance.js";
import { AdkMetricsError, withPath } from "../errors.js";
import { checkEvaluation } from "../evaluate.js";
import { MAX_PROMPT_BYTES } from "../generated/limits.js";
import { DEFAULT_MODEL } from "../generated/metrics.js";
import { judgeOf } from "../judges/default.js";
import { foreignDefault, otherModel } from "../judges/foreign-default.js";
import { checkJudge, identityOf } from "../judges/judge.js";
import { retirementOf } from "../judges/retirement.js";
import { isReplayed, miscountedText, replyOf, unrecordedReply, usageOfError, withTokensOf } from "../judges/reply.js";
import { checkSettings, checkSpelling } from "../judges/settings.js";
import type {
  Content,
  ConversationScenario,
  Invocation,
  Judge,
  JudgeReply,
  JudgeRequest,
  RetryOptions,
} from "../types.js";
import type { JournalSection } from "../journal/section.js";
import { hashOf } from "../judges/recording.js";
import { canonicalRequest } from "../judges/request.js";
import { type PriceList, pricedName } from "../run/prices.js";
import type { Player, Spending } from "./spending.js";
import { personaText } from "./personas.js";
import { untilAborted } from "../abort.js";
import type { TokenCounts } from "../generated/contract.js";
import { OPTION_RULES } from "../generated/options.js";
import { definedProperties } from "../lists.js";
import { checkedRetry } from "../run/judge-options.js";
import { checkRule } from "../run/rules.js";
import { count } from "../report/text.js";

/** Who plays the user. Names and defaults are those of google-adk's `user_simulator_config`. */
export interface UserSimulatorOptions {
  /** Who answers. Default: the judge of the evaluation, of `setDefaultJudge`, or of the environment. */
  judge?: Judge;
  /** The model. Default: `gemini-2.5-flash`. */
  model?: string;
  /** Sampling settings of the model. */
  modelConfiguration?: object;
  /**
   * The most turns of a conversation, the starting prompt included; -1 for no limit. Default: 20. A file can ask for 100
   * at most.
   */
  maxAllowedInvocations?: number;
  /**
   * A prompt of your own. It has to hold `{{ stop_signal }}`, `{{ conversation_plan }}` and `{{ conversation_history }}`,
   * and `{{ persona }}` for scenarios with a persona.
   */
  customInstructions?: string;
  /** Whether the model is shown tool calls and their responses. Default: false. */
  includeFunctionCalls?: boolean;
  /** How failed calls are tried again. */
  retry?: RetryOptions;
  /** How long one call may take, in milliseconds. Default: 120,000. */
  timeoutMs?: number;
}

/** What the model writes when the user has nothing more to say. */
const STOP_SIGNAL = "</finished>";

const DEFAULT_TURNS = 20;

/** The most turns that a file can ask for: each is a paid call, and files come from others. Code may ask for any number. */
const MOST_TURNS_OF_FILE = 100;
const DEFAULT_TIMEOUT_MS = 120_000;

/** The type of google-adk's simulator whose users speak. */
const AUDIO = "llm_audio";

/** The metric's name in the requests to the judge, so that a judge can tell them from those of metrics. */
const USER_SIMULATOR = "user_simulator";

const PROMPT = `You play the user in a test of an AI agent. Write the user's next message, and nothing else.

How you behave:
{{ persona }}
- React to what the agent said last. The plan says what you want; it is no script to be read out.
- Keep to the plan: no wishes, names or numbers of your own. Do not ask again for what is done.
- When the agent has done what you asked, make the next request of the plan.
- When everything in the plan is done, when the agent hands you over to a human, or when it cannot undo a mistake, end the conversation: write {{ stop_signal }} alone.

The plan:
{{ conversation_plan }}

The conversation so far:
{{ conversation_history }}

The user's next message:`;

/**
 * Keeps the turns that a file asks for within {@link MOST_TURNS_OF_FILE}.
 *
 * @returns The settings, and what to tell the user where they were changed.
 */
export function withinTurns(ofFile: UserSimulatorOptions): { options: UserSimulatorOptions; warning?: string } {
  const { maxAllowedInvocations: limit } = ofFile;
  if (!Number.isSafeInteger(limit) || ((limit as number) >= 0 && (limit as number) <= MOST_TURNS_OF_FILE)) {
    return { options: ofFile };
  }
  const what = (limit as number) < 0 ? `unlimited turns (\`${limit}\`)` : `${limit} turns`;
  return {
    options: { ...ofFile, maxAllowedInvocations: MOST_TURNS_OF_FILE },
    warning:
      `user_simulator_config asks for ${what}: simulated conversations end after ${MOST_TURNS_OF_FILE} turns. ` +
      "Only code may allow more, with `userSimulator.maxAllowedInvocations`",
  };
}

/**
 * Finds out whether there is anyone to play the user, before an agent is run.
 *
 * @throws {AdkMetricsError} `judge_required` without a judge, `invalid_input` for settings that cannot be used, or a budget
 * in money without the price of the model.
 */
export function checkSimulator(options: UserSimulatorOptions = {}, spending: Spending): void {
  const limit = limitOf(options);
  checkModel(options);
  const { type = "llm_backed" } = options as UserSimulatorOptions & { type?: string };
  if (type !== "llm_backed" && type !== AUDIO) {
    throw new AdkMetricsError("invalid_input", `there is no user simulator \`${type}\``, {
      path: "userSimulator: type",
      help: `google-adk has \`llm_backed\` and \`${AUDIO}\``,
    });
  }
  if (limit === 0 || limit === 1) return;
  try {
    spending.check(playerOf(options));
  } catch (error) {
    // It is the scenario of an evalset that needs somebody to play the user.
    throw withPath(error, "evalSet");
  }
}

/**
 * Finds out whether the user of a case can be played, before an agent is run.
 *
 * @throws {AdkMetricsError} `invalid_input` for an unknown persona, or a prompt that lacks a placeholder.
 */
export function checkScenario(
  evalId: string,
  scenario: ConversationScenario,
  options: UserSimulatorOptions = {},
): void {
  templateOf(options, scenario);
  personaText(scenario.userPersona, `the scenario of ${JSON.stringify(evalId)}: userPersona`);
}

/** The settings of a simulated user; the type makes sure that none is missing. */
const SETTINGS: Readonly<Record<keyof UserSimulatorOptions, readonly [type: string, words: string]>> = {
  judge: ["function", "a judge"],
  model: ["string", "a string"],
  modelConfiguration: ["object", "an object"],
  maxAllowedInvocations: ["number", "a whole number"],
  customInstructions: ["string", "a string"],
  includeFunctionCalls: ["boolean", "true or false"],
  retry: ["object", "an object"],
  timeoutMs: ["number", "a number of milliseconds above 0"],
};

/** @throws {AdkMetricsError} `invalid_input` for a key that is not a setting, and for a setting of another type. */
export function checkSimulatorOptions(options: UserSimulatorOptions | undefined): void {
  if (options === undefined) return;
  if (!isObject(options)) throw unexpected("an object", options, "userSimulator");
  const given = reading("userSimulator", () => ({ ...options }));
  for (const [key, value] of Object.entries(given)) {
    const path = `userSimulator: ${key}`;
    if (!Object.hasOwn(SETTINGS, key)) {
      const help = keysHelp(key, Object.keys(SETTINGS));
      throw new AdkMetricsError("invalid_input", `the user simulator has no setting \`${key}\``, { path, help });
    }
    const [type, words] = SETTINGS[key as keyof UserSimulatorOptions];
    if (value === undefined) continue;
    if (key === "judge") checkJudge(value, path);
    if (typeof value !== type || value === null) throw unexpected(words, value, path);
    if (key === "timeoutMs") checkRule(value, OPTION_RULES.timeoutMs, path);
    if (key === "retry") checkedRetry(value as RetryOptions, "userSimulator: retry");
  }
  limitOf(given);
  checkModel(given);
}

/** @throws {AdkMetricsError} `invalid_input` for a model without a name, and for settings that no model can take. */
function checkModel({ model = DEFAULT_MODEL, modelConfiguration }: UserSimulatorOptions): void {
  if (isObject(modelConfiguration)) {
    checkSettings(modelConfiguration, "userSimulator: modelConfiguration");
    checkSpelling(modelConfiguration, "userSimulator: modelConfiguration");
  }
  // A provider alone is not a name either.
  if (/(?:^|\/)\s*$/.test(model)) throw unexpected("the name of a model", model, "userSimulator: model");
}

/** Who is asked, and for which model. */
function playerOf({ judge, model = DEFAULT_MODEL }: UserSimulatorOptions): Player & { ask: Judge } {
  const ask = judgeOf(judge === undefined ? {} : { judge }, model);
  const { model: own = model, functionName, isReplay } = identityOf(ask);
  return { ask, model: own, functionName, isReplay };
}

/** The names whose prices count for who plays users. */
export function pricedPlayer(options: UserSimulatorOptions, prices: PriceList | undefined): string[] {
  if ([0, 1].includes(limitOf(options))) return [];
  const { model, functionName } = playerOf(options);
  return [pricedName(functionName === undefined ? { model } : { functionName }, model, prices)];
}

/**
 * What to know of who plays users: that another model will answer, or was not chosen, and which settings it is not sent.
 *
 * @throws {AdkMetricsError} `invalid_input` for a setting that no model can take.
 */
export async function playerWarnings(options: UserSimulatorOptions): Promise<string[]> {
  if ([0, 1].includes(limitOf(options))) return [];
  const { ask, model } = playerOf(options);
  const { model: named = DEFAULT_MODEL, modelConfiguration } = options;
  const who = identityOf(ask);
  const texts = [
    retirementOf(ask, model, "user"),
    who.contradiction,
    foreignDefault(who, named, "user"),
    otherModel(who, options.model, "user"),
  ];
  if (isObject(modelConfiguration)) {
    const others = await judgeWarnings(ask, named, {});
    const all = await judgeWarnings(ask, named, modelConfiguration);
    const unsent = all.filter((message) => !others.includes(message));
    texts.push(...unsent.map((message) => message.replace(AS_METRIC, "simulated users")));
  }
  if ("type" in options && options.type === AUDIO) texts.push(`simulated users write: \`${AUDIO}\` has no effect`);
  return texts.flatMap((text) => text ?? []);
}

/** The metric whose judge is not sent the settings that the model of simulated users is not sent either. */
const AS_METRIC = "safety_v1";

/** The warnings about a judge with these settings. */
async function judgeWarnings(judge: Judge, judge_model: string, settings: object): Promise<string[]> {
  const judge_model_options = { judge_model, judge_model_config: { ...settings } };
  const criteria = { [AS_METRIC]: { threshold: 0, judge_model_options } };
  try {
    const { warnings } = await checkEvaluation({ evalSet: { evalSetId: "", evalCases: [] }, criteria, judge });
    return warnings.map(({ message }) => message);
  } catch (error) {
    const { message, path = "", help } = error as AdkMetricsError;
    const [, setting] = path.split("judge_model_config");
    if (setting === undefined) throw error;
    const details = {
      path: `userSimulator: modelConfiguration${setting}`,
      ...definedProperties({ help }),
      cause: error,
    };
    throw new AdkMetricsError("invalid_input", message, details);
  }
}

function limitOf({ maxAllowedInvocations: limit = DEFAULT_TURNS }: UserSimulatorOptions): number {
  if (Number.isSafeInteger(limit)) return limit;
  throw unexpected("a whole number", limit, "userSimulator: maxAllowedInvocations");
}

/**
 * The user's messages. Whoever reads them runs the agent and adds each turn to `history` before asking for the next.
 *
 * @throws {AdkMetricsError} `invalid_input` for settings that cannot be used, `judge_required` without a judge,
 * `judge_failed` if it fails or says nothing.
 */
export async function* simulatedUser(
  { evalId, run }: { evalId: string; run: number },
  scenario: ConversationScenario,
  history: readonly Invocation[],
  { userSimulator = {}, signal }: { userSimulator?: UserSimulatorOptions; signal?: AbortSignal },
  spending: Spending,
  journal?: JournalSection,
): AsyncGenerator<Content> {
  const limit = limitOf(userSimulator);
  const template = templateOf(userSimulator, scenario);
  const persona = personaText(scenario.userPersona).replaceAll(/\{\{\s*stop_signal\s*\}\}/g, STOP_SIGNAL);
  const written = new HistoryText(history, userSimulator);
  for (let turn = 0; limit < 0 || turn < limit; turn += 1) {
    if (turn === 0) {
      yield userContent(scenario.startingPrompt);
      continue;
    }
    const request: JudgeRequest = {
      id: `${USER_SIMULATOR}/${evalId}/${run}/${turn}`,
      metricName: USER_SIMULATOR,
      purpose: "score",
      evalId,
      invocationIndex: turn,
      stepIndex: 0,
      sampleIndex: run,
      model: userSimulator.model ?? DEFAULT_MODEL,
      prompt: filled(template, scenario.conversationPlan, written.read(), persona),
      ...(userSimulator.modelConfiguration === undefined ? {} : { generationConfig: userSimulator.modelConfiguration }),
    };
    if (turn === 1) for (const warning of await playerWarnings(userSimulator)) spending.warn(warning);
    // Sent as it is, white space too, as google-adk does.
    const words = await askModel(request, userSimulator, signal, spending, journal);
    if (words.toLowerCase().includes(STOP_SIGNAL)) return;
    if (words === "") throw new AdkMetricsError("judge_failed", "the user simulator's model gave an empty reply");
    yield userContent(words);
  }
  // The messages name no case, so that each is given once for all.
  const turns = count(limit, "turn");
  spending.warn(
    limit === 0
      ? "no conversation was begun, since `max_allowed_invocations` is 0"
      : `simulated users did not end their conversations within the limit of ${turns} (\`max_allowed_invocations\`): conversations with ${turns} were cut off`,
  );
}

function userContent(text: string): Content {
  return { role: "user", parts: [{ text }] };
}

function templateOf({ customInstructions }: UserSimulatorOptions, { userPersona }: ConversationScenario): string {
  if (customInstructions === undefined) return PROMPT;
  const needed = ["stop_signal", "conversation_plan", "conversation_history"];
  if (userPersona !== undefined && userPersona !== null) needed.push("persona");
  for (const name of needed) {
    if (new RegExp(`\\{\\{\\s*${name}\\s*\\}\\}`).test(customInstructions)) continue;
    throw new AdkMetricsError("invalid_input", `the custom instructions do not contain {{ ${name} }}`, {
      path: "userSimulator: customInstructions",
      help: `They need ${needed.map((one) => `{{ ${one} }}`).join(", ")}, which are filled in`,
    });
  }
  return customInstructions;
}

/**
 * The prompt. Plan and conversation are in blocks whose marks are a hash of all that is filled in, as in the prompts of
 * judges, and are not looked through again.
 *
 * @throws {AdkMetricsError} `limit_exceeded` if it would be too long: a template may have the same placeholder many times.
 */
function filled(template: string, plan: string, history: string, persona: string): string {
  const values = new Map([
    ["conversation_plan", plan],
    ["conversation_history", history],
    ["persona", persona],
  ]);
  let length = template.length;
  for (const [, name = ""] of template.matchAll(/\{\{\s*(\w+)\s*\}\}/g)) length += values.get(name)?.length ?? 0;
  if (length > MAX_PROMPT_BYTES) {
    const message = `the prompt for a simulated user has ${length} characters, but at most ${MAX_PROMPT_BYTES} are asked`;
    const help = "Lower userSimulator.maxAllowedInvocations, or shorten customInstructions";
    throw new AdkMetricsError("limit_exceeded", message, { help });
  }
  return withEngine((engine) => engine.userPrompt(template, plan, history, persona, STOP_SIGNAL));
}

/**
 * The conversation as the user saw it: no thoughts, and tools only if asked for. Each line is one thing that was said or
 * done, and what was said is a JSON string, so that no text can pass for a turn of its own. A stop signal in what was
 * said is broken up, so that a message that quotes it does not end the conversation.
 *
 * Each turn is written once, when it is new.
 */
class HistoryText {
  readonly #history: readonly Invocation[];
  readonly #withTools: boolean;
  #text = "";
  #known = 0;

  constructor(history: readonly Invocation[], { includeFunctionCalls = false }: UserSimulatorOptions) {
    this.#history = history;
    this.#withTools = includeFunctionCalls;
  }

  read(): string {
    for (; this.#known < this.#history.length; this.#known += 1) {
      const lines = this.#linesOf(this.#history[this.#known] as Invocation).join("\n");
      if (lines === "") continue;
      const harmless = lines.replaceAll(/<(\/finished>)/gi, "<\u2060$1");
      this.#text = this.#text === "" ? harmless : `${this.#text}\n${harmless}`;
    }
    return this.#text;
  }

  #linesOf({ userContent, intermediateData, finalResponse }: Invocation): string[] {
    const lines: string[] = [];
    const add = (author: string, content: Content | undefined) => {
      for (const { text, thought, functionCall, functionResponse } of content?.parts ?? []) {
        if (typeof text === "string" && text !== "" && thought !== true) {
          lines.push(`${author}: ${JSON.stringify(text)}`);
        } else if (!this.#withTools) {
          continue;
        } else if (functionCall) {
          lines.push(`${author} called ${nameOf(functionCall.name)} with ${JSON.stringify(functionCall.args ?? {})}`);
        } else if (functionResponse) {
          lines.push(`${nameOf(functionResponse.name)} returned ${JSON.stringify(functionResponse.response ?? {})}`);
        }
      }
    };
    add("user", userContent);
    for (const { author, content } of intermediateData?.invocationEvents ?? []) add(agentName(author), content);
    add("agent", finalResponse);
    return lines;
  }
}

/** The name of an agent or a tool, quoted unless it is a plain one. */
function nameOf(name: string | undefined): string {
  return name !== undefined && /^[\w.-]+$/.test(name) ? name : JSON.stringify(name ?? "");
}

/** No agent is called as the user is. */
function agentName(author: string): string {
  return author.toLowerCase() === "user" ? "agent" : nameOf(author);
}

/** Asks the model, again after failures that may pass. */
async function askModel(
  request: JudgeRequest,
  options: UserSimulatorOptions,
  cancelled: AbortSignal | undefined,
  spending: Spending,
  journal: JournalSection | undefined,
): Promise<string> {
  const player = playerOf(options);
  const { ask } = player;
  const key = journal && `${request.id}/${hashOf([canonicalRequest(request)])}`;
  const found = key === undefined ? undefined : journal?.reply(key);
  if (found !== undefined) {
    const { reply, failed = 0, failedUsage, cached = false } = found;
    const by = { ...player, isReplay: cached };
    for (let call = 0; call <= failed; call += 1) spending.call(by, call > 0);
    spending.charge(player, failedUsage);
    spending.reply(by, request.prompt, reply, cached);
    return reply.text;
  }
  const { retry = {}, timeoutMs = DEFAULT_TIMEOUT_MS } = options;
  // Timers take no other numbers.
  const limit = Math.min(Math.ceil(timeoutMs), 2 ** 31 - 1);
  const { attempts, initialDelayMs, maxDelayMs, base } = checkedRetry(retry);
  let failedUsage: TokenCounts | undefined;
  for (let attempt = 1; ; attempt += 1) {
    spending.call(player, attempt > 1);
    const signal = AbortSignal.any([AbortSignal.timeout(limit), ...(cancelled === undefined ? [] : [cancelled])]);
    try {
      const reply = replyOf(await untilAborted(signal, () => ask(request, { signal })).catch(paidFor(spending)));
      const cached = isReplayed(reply);
      const miscounted = miscountedText(reply);
      if (miscounted !== undefined) spending.warn(miscounted);
      journal?.keep({ type: "reply", key, reply, cached, failed: attempt - 1, ...definedProperties({ failedUsage }) });
      spending.reply(player, request.prompt, reply, cached);
      return reply.text;
    } catch (error) {
      const usage = usageOfError(error);
      if (usage !== undefined) failedUsage = withTokensOf(usage, failedUsage);
      spending.charge(player, usage);
      if (cancelled?.aborted === true) throw new AdkMetricsError("cancelled", "the evaluation was cancelled");
      const { code, retryable, retryAfterMs } = (error ?? {}) as Partial<Record<keyof AdkMetricsError, unknown>>;
      const isTimeout = signal.aborted;
      if ((retryable !== true && !isTimeout) || attempt >= attempts) {
        spending.reply(player, request.prompt, undefined, code === "replay_missing");
        throw simulatorFailure(error);
      }
      const delay = Math.min(initialDelayMs * base ** (attempt - 1), maxDelayMs);
      const wait = new Promise<void>((resolve) =>
        setTimeout(resolve, typeof retryAfterMs === "number" ? Math.max(delay, retryAfterMs) : delay),
      );
      await (cancelled === undefined ? wait : untilAborted(cancelled, () => wait));
    }
  }
}

/** Takes a reply that could not be recorded. */
function paidFor(spending: Spending): (error: unknown) => JudgeReply {
  return (error) => {
    const reply = unrecordedReply(error);
    if (reply === undefined) throw error;
    spending.warn((error as Error).message);
    return reply;
  };
}

function simulatorFailure(cause: unknown): AdkMetricsError {
  const words = cause instanceof AdkMetricsError ? cause.message : messageOf(cause);
  return new AdkMetricsError("judge_failed", `the user simulator's model failed: ${words}`, { cause });
}
