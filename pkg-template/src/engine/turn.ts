import type { EvalMetricResult, EvalMetricResultPerInvocation, Invocation } from "../types.js";
import { stringify } from "./writing.js";
import type { InvocationSource, Span } from "./invocations.js";
import { Marks } from "./marks.js";

/** Where the invocations of both inputs are found. */
export interface Sources {
  actual: InvocationSource;
  expected: InvocationSource;
}

/** Both ends of a span whose invocation is not in the input in this form. */
export const NOT_IN_PLACE = 0xffff_ffff;

/** The invocations of a turn; parsed when they are first looked at, so that a large run does not pay for them. */
export class Turn {
  actual: Invocation | undefined = undefined;
  expected: Invocation | undefined = undefined;
  readonly #sources: Sources;
  readonly #run: number;
  readonly #case: number;
  readonly #turn: number;
  readonly #spans: Uint32Array;
  readonly #span: number;

  constructor(sources: Sources, run: number, caseIndex: number, turn: number, spans: Uint32Array, span: number) {
    this.#sources = sources;
    this.#run = run;
    this.#case = caseIndex;
    this.#turn = turn;
    this.#spans = spans;
    this.#span = span;
  }

  get hasExpected(): boolean {
    return this.#spans[this.#span + 3] !== 0;
  }

  invocation(side: Side): Invocation {
    return (this[side] ??= this.#sources[side].at(this.#conversation(side), this.#turn, this.#location(side)));
  }

  /** The invocation as JSON, with the digits that it was written with. */
  json(side: Side): string {
    const location = this.#location(side);
    if (location[1] === NOT_IN_PLACE) return stringify(this[side] as Invocation, "result");
    return this.#sources[side].jsonAt(this.#conversation(side), this.#turn, location);
  }

  #conversation(side: Side): number {
    return side === "actual" ? this.#run : this.#case;
  }

  #location(side: Side): Span {
    const at = side === "actual" ? this.#span : this.#span + 2;
    return [this.#spans[at] as number, this.#spans[at + 1] as number];
  }
}

type Side = "actual" | "expected";

/** Notes on the plain object of a turn's result which turn it is, where neither comparisons nor copies see it. */
class TurnMark extends Marks {
  readonly #turn: Turn;

  constructor(result: object, turn: Turn) {
    super(result);
    this.#turn = turn;
  }

  static turnOf(result: object): Turn | undefined {
    return #turn in result ? result.#turn : undefined;
  }
}

/** The getter of one side: the same for all results, since a getter of each would cost more than all the rest. */
function getter(side: Side): PropertyDescriptor & { get(): Invocation | undefined } {
  return {
    get(this: object) {
      return TurnMark.turnOf(this)?.invocation(side);
    },
    enumerable: true,
    configurable: true,
  };
}

const GETTERS = { actualInvocation: getter("actual"), expectedInvocation: getter("expected") };

/** The result of a turn, whose invocations are own properties that are read when they are looked at. */
export function turnResult(turn: Turn, evalMetricResults: EvalMetricResult[]): EvalMetricResultPerInvocation {
  const result = Object.defineProperty({}, "actualInvocation", GETTERS.actualInvocation);
  if (turn.hasExpected) Object.defineProperty(result, "expectedInvocation", GETTERS.expectedInvocation);
  new TurnMark(result, turn);
  return Object.assign(result, { evalMetricResults }) as EvalMetricResultPerInvocation;
}

/** A turn's result with other results of its metrics. Invocations stay unparsed until they are looked at. */
export function withMetricResults(
  result: EvalMetricResultPerInvocation,
  evalMetricResults: EvalMetricResult[],
): EvalMetricResultPerInvocation {
  const turn = TurnMark.turnOf(result);
  if (turn !== undefined) return turnResult(turn, evalMetricResults);
  const copy: EvalMetricResultPerInvocation = {
    get actualInvocation() {
      return result.actualInvocation;
    },
    evalMetricResults,
  };
  if ("expectedInvocation" in result) {
    Object.defineProperty(copy, "expectedInvocation", {
      get: () => result.expectedInvocation,
      enumerable: true,
      configurable: true,
    });
  }
  return copy;
}

/** The JSON of one invocation of a turn's result, with the digits that it was written with; undefined if there is none. */
export function invocationJson(
  result: EvalMetricResultPerInvocation,
  key: "actualInvocation" | "expectedInvocation",
): string | undefined {
  const property = Object.getOwnPropertyDescriptor(result, key);
  if (property === undefined) return undefined;
  const turn = TurnMark.turnOf(result);
  if (turn !== undefined && property.get === GETTERS[key].get) {
    return turn.json(key === "actualInvocation" ? "actual" : "expected");
  }
  const found = result[key];
  return found === undefined ? undefined : stringify(found, "result");
}
