/**
 * What the models of ADK-TS report. Its events lose the token counts, the model's version and the code of an error, so
 * they are taken where its agents show a model's response to callbacks, and found again by the response's content.
 */

/** What an event of ADK-TS lacks. */
export interface ModelReport {
  usageMetadata?: unknown;
  modelVersion?: unknown;
  groundingMetadata?: unknown;
  errorCode?: unknown;
  errorMessage?: unknown;
}

const reports = new WeakMap<object, ModelReport>();

/** What a model reported with a content; nothing if nobody observed it. */
export function modelReport(content: unknown): ModelReport | undefined {
  return typeof content === "object" && content !== null ? reports.get(content) : undefined;
}

/** An agent of ADK-TS that asks a model. */
interface LlmAgent {
  afterModelCallback?: unknown;
  subAgents?: unknown;
}

/** The agents under observation: by how many evaluations, and which callbacks they had before. */
const observed = new WeakMap<object, { count: number; before: unknown }>();

const MAX_DEPTH = 32;

/** Observes the models of an agent and its sub-agents until the function that it gives is called. */
export function observeModels(root: object): () => void {
  const agents = [...llmAgents(root, 0)];
  for (const agent of agents) {
    const state = observed.get(agent) ?? { count: 0, before: agent.afterModelCallback };
    state.count += 1;
    observed.set(agent, state);
    if (state.count === 1) agent.afterModelCallback = [note, ...callbacks(state.before)];
  }
  return () => {
    for (const agent of agents) {
      const state = observed.get(agent);
      if (state === undefined) continue;
      state.count -= 1;
      if (state.count > 0) continue;
      agent.afterModelCallback = state.before;
      observed.delete(agent);
    }
  };
}

function* llmAgents(agent: LlmAgent, depth: number): Generator<LlmAgent> {
  if ("canonicalAfterModelCallbacks" in agent && Object.isExtensible(agent)) yield agent;
  if (depth === MAX_DEPTH || !Array.isArray(agent.subAgents)) return;
  for (const child of agent.subAgents as unknown[]) {
    if (typeof child === "object" && child !== null) yield* llmAgents(child, depth + 1);
  }
}

function callbacks(given: unknown): unknown[] {
  if (Array.isArray(given)) return given as unknown[];
  return given === undefined || given === null ? [] : [given];
}

/** Keeps what a response reports; giving nothing leaves the response as it is. */
function note(found: { llmResponse?: ModelReport & { content?: unknown } }): undefined {
  const { content, usageMetadata, modelVersion, groundingMetadata, errorCode, errorMessage } = found.llmResponse ?? {};
  if (typeof content !== "object" || content === null) return;
  reports.set(content, { usageMetadata, modelVersion, groundingMetadata, errorCode, errorMessage });
}
