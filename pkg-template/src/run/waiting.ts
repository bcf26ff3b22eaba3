import type { JudgeProgress } from "../types.js";

/** Called after each step of a run: with its calls if it waits for them only, else with undefined. */
export type TellWaiting = (calls: Pick<JudgeProgress, "inFlight" | "queued"> | undefined) => void;

/** Listeners by the signal of their run. Batches hold calls open until the run waits for nothing else. */
export const waiting = /* @__PURE__ */ new WeakMap<AbortSignal, TellWaiting>();

/** The signals of runs that ask no judge: such a run is cancelled once it waits for judges alone. */
export const asksNobody = /* @__PURE__ */ new WeakSet<AbortSignal>();
