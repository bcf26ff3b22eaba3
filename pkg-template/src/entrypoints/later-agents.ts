// The bundler has Node's entries import this instead of agents/index.ts: the same names, loaded when they are first used.
import type * as agents from "../agents/index.js";
import { checkRunOptions } from "../agents/options.js";

export { DEFAULT_CRITERIA } from "../agents/options.js";
export { AgentEvaluationError, EvalResult } from "../agents/results.js";

type Statics = Omit<typeof agents.AgentEvaluator, "prototype">;
type Service = agents.LocalEvalService;

async function evaluator(): Promise<Statics> {
  return (await import("./later.js")).AgentEvaluator;
}

export const AgentEvaluator = class AgentEvaluator {
  static async findConfigForTestFile<C extends agents.Criteria = Record<string, number>>(
    ...given: Parameters<Statics["findConfigForTestFile"]>
  ): Promise<C> {
    return (await evaluator()).findConfigForTestFile<C>(...given);
  }

  static async evaluateEvalSet(...given: Parameters<Statics["evaluateEvalSet"]>) {
    return (await evaluator()).evaluateEvalSet(...given);
  }

  static async evaluate(...given: Parameters<Statics["evaluate"]>) {
    return (await evaluator()).evaluate(...given);
  }

  static async migrateEvalDataToNewSchema(...given: Parameters<Statics["migrateEvalDataToNewSchema"]>) {
    return (await evaluator()).migrateEvalDataToNewSchema(...given);
  }
} satisfies Statics;

export class LocalEvalService implements Pick<Service, keyof Service> {
  readonly #given: ConstructorParameters<typeof agents.LocalEvalService>;
  #service: Promise<Service> | undefined;

  constructor(...given: ConstructorParameters<typeof agents.LocalEvalService>) {
    const [agent, parallelism, options = {}] = given;
    checkRunOptions(options);
    this.#given = [agent, parallelism, { ...options }];
  }

  async *performInference(...given: Parameters<Service["performInference"]>) {
    yield* (await this.#loaded()).performInference(...given);
  }

  async *evaluate(...given: Parameters<Service["evaluate"]>) {
    yield* (await this.#loaded()).evaluate(...given);
  }

  async *evaluateSession(...given: Parameters<Service["evaluateSession"]>) {
    yield* (await this.#loaded()).evaluateSession(...given);
  }

  #loaded(): Promise<Service> {
    return (this.#service ??= import("./later.js").then((later) => new later.LocalEvalService(...this.#given)));
  }
}
