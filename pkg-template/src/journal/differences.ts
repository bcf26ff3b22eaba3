/** How the inputs of an evaluation differ from those that a journal was started with. */

type Inputs = Readonly<Record<string, unknown>>;

/** The names of inputs that differ. */
export function differentIn(before: Inputs, inputs: Inputs): string[] {
  const names = Object.keys({ ...before, ...inputs });
  return names.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(inputs[name]));
}

/** The inputs that differ, in words; empty if none does. */
export function differencesIn(before: Inputs, inputs: Inputs): string {
  return differentIn(before, inputs)
    .map((name) => changeText(name, before[name], inputs[name]))
    .join(", ");
}

/** What users call the inputs whose names in a journal are others. */
const INPUT_WORDS: Readonly<Record<string, string>> = {
  evalSet: "the evalset",
  actual: "what the agent did",
  config: "the config",
  evalIds: "the selection of cases",
  advisory: "the advisory metrics",
  judge: "the judge",
  prompts: "the prompts",
  agent: "the agent",
  numRuns: "the number of runs",
  userSimulator: "the simulated user",
  engine: "the version of adk-metrics",
  reference: "the version of google-adk",
  dialect: "the dialect",
  shard: "the shard",
};

/** An input that changed, with its values where they are short: of files there are digests. */
function changeText(name: string, before: unknown, now: unknown): string {
  const word = INPUT_WORDS[name] ?? name;
  const [was, is] = [before, now].map((value) =>
    typeof value === "number" || (typeof value === "string" && value.length <= 40) ? String(value) : undefined,
  );
  return was === undefined || is === undefined ? word : `${word} (${was} then, ${is} now)`;
}
