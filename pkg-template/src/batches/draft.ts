// Node only: no bundle for browsers may reach this file.
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import { type BatchFolder, type BatchRecord, FORMAT, type NotedQuestion } from "./folder.js";

/** A batch that is being put together. What it is called depends on its questions alone. */
export class Draft {
  rows = 0;
  /** How long the bodies of its questions are in all. */
  bytes = 0;
  readonly #batches: BatchFolder;
  readonly #target: Pick<BatchRecord, "provider" | "label" | "model">;
  readonly #folder: string;
  readonly #file: number;
  #isOpen = true;
  /** What it is named by: whom it asks, and each question, in whatever order they come. */
  readonly #asked: string[] = [];

  constructor(batches: BatchFolder, { provider, label, model }: Pick<BatchRecord, "provider" | "label" | "model">) {
    const { folder, questions } = batches.makeDraft();
    this.#batches = batches;
    this.#target = { provider, label, model };
    this.#folder = folder;
    this.#file = fs.openSync(questions, "wx");
    this.#asked.push(`${label}\n${model}\n`);
  }

  /** @param times How often the question was asked before: the server must not take the batch for the earlier one. */
  add(question: NotedQuestion, times: number): void {
    this.rows += 1;
    this.#asked.push(`${question.id} ${times}\n`);
    fs.writeSync(this.#file, `${JSON.stringify(question)}\n`);
  }

  /** Makes it a batch, to be sent. */
  finish(): void {
    fs.fsyncSync(this.#file);
    this.close();
    const digest = createHash("sha256").update(this.#asked.toSorted().join("")).digest("hex");
    const name = `adk-metrics-${digest.slice(0, 32)}`;
    const { rows, bytes } = this;
    const record = { format: FORMAT, version: 1, ...this.#target, rows, bytes, name, state: "noted" } as const;
    this.#batches.adoptDraft(this.#folder, record);
  }

  /** Leaves it as it is. */
  close(): void {
    if (this.#isOpen) fs.closeSync(this.#file);
    this.#isOpen = false;
  }
}
