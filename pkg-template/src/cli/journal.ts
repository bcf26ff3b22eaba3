/** `--journal`: keeps what a command paid for and settled, so that the same command resumes where it stopped. */

import { digestOf, type JournaledBegin, JournalSection } from "../journal/section.js";
import type { FileJournal } from "../journal/file.js";
import { isAdkMetricsError } from "../errors.js";
import { count } from "../report/text.js";
import { nobody, standInsOf } from "../run/journaled.js";
import type { EvaluatorOptions, Journal, JournalEntry } from "../types.js";
import { api } from "./api.js";
import type { Arguments } from "./arguments.js";
import { kindOf, readBytes } from "./files.js";
import { realPath } from "./find.js";
import type { Input } from "./inputs.js";
import { Mistake, nameJournal } from "./mistakes.js";
import { note } from "./process.js";
import type { IsOurs, Shard } from "./shards.js";
import { prepareFile, refuseLinkToNothing } from "./write.js";

/** The name of the section about the command as a whole. */
const COMMAND = "";

/** What journals say of a command, or of its shards. */
interface Known {
  command?: object;
  shard?: Shard | undefined;
  balance?: readonly string[];
  merged?: Journal;
  files?: readonly string[];
  agent?: string;
  standIns?: Pick<EvaluatorOptions, "vertex" | "judge">;
  whyMissing?: WhyMissing | undefined;
}

/** Why a journal lacks a run of a case of an evalset, or what was asked about it. */
export type WhyMissing = (evalSet: number, evalId: string, run?: number) => string | undefined;

/** The journal of a command. */
export class Journaling {
  readonly file: string;
  readonly #command: object;
  /** The shard that it belongs to. */
  readonly shard: Shard | undefined;
  readonly #balance: readonly string[];
  readonly #merged: Journal | undefined;
  /** The journals of the shards. */
  readonly #files: readonly string[];
  readonly #sections: JournalSection[] = [];
  /** The name of the agent whose runs are merged. */
  readonly agent: string;
  /** The options for scoring merged shards: each metric has the judge that scored it in the shards. */
  readonly mergedOptions: Pick<EvaluatorOptions, "vertex" | "judge">;
  readonly #whyMissing: WhyMissing | undefined;
  #journal: FileJournal | undefined;
  #whole: JournalSection | undefined;
  /** Whether the command came to its end. */
  #isComplete = false;
  #isOurs: IsOurs | undefined;

  private constructor(
    file: string,
    { command = {}, shard, balance = [], merged, files = [], agent = "", standIns = {}, whyMissing }: Known,
  ) {
    this.file = file;
    this.#command = command;
    this.shard = shard;
    this.#balance = balance;
    this.#merged = merged;
    this.#files = files;
    this.agent = agent;
    this.mergedOptions = standIns;
    this.#whyMissing = whyMissing;
  }

  /** The journals of all shards of a command as one. */
  static merged(files: readonly string[], entries: readonly JournalEntry[], whyMissing?: WhyMissing): Journaling {
    const begun = entries.filter((entry): entry is JournaledBegin => entry.type === "begin");
    const { agent } = begun.find(({ part }) => part === "runs")?.inputs ?? {};
    return new Journaling(files[0] ?? "", {
      files,
      merged: { read: async () => entries, append: async () => {} },
      agent: String(agent ?? ""),
      standIns: standInsOf(entries),
      whyMissing,
    });
  }

  /** @throws {Mistake} for a file that cannot be a journal, and for options that it does not go with. */
  static async of(given: Arguments, command: string): Promise<Journaling | undefined> {
    const file = given.one("journal");
    const { shardOf } = await import("./shards.js");
    const shard = shardOf(given);
    if (file === undefined) {
      if (!given.has("resume")) return undefined;
      throw new Mistake("--resume needs a journal", { help: "--journal <file> --resume" });
    }
    if (given.has("record")) {
      throw new Mistake(
        "--record and --journal cannot be used together: a resumed run would record only its remaining replies",
        {
          help: "Leave out --record: the journal has every reply too",
        },
      );
    }
    if (given.all("balance").some((one) => realPath(one) === realPath(file))) {
      throw new Mistake("the journal is also a file of --balance, which must not change", {
        location: file,
        help: "Choose another file for --journal or for --balance",
      });
    }
    if (given.has("watch")) {
      throw new Mistake("--journal cannot be used with --watch, which scores files that changed", {
        help: "Leave out --journal; to keep replies, use --cache",
      });
    }
    if (given.has("resume") && kindOf(file) === undefined) {
      throw new Mistake("there is no journal to resume from", {
        location: file,
        help: "To start one, leave out --resume",
      });
    }
    refuseLinkToNothing(file, "journal");
    nameJournal(file);
    const options = Object.fromEntries(given.options);
    const { positionals } = given;
    return new Journaling(file, {
      command: { command, positionals, options },
      shard,
      balance: given.all("balance"),
    });
  }

  /** Whether shards are merged: no judge is asked and no agent is run. */
  get isMerging(): boolean {
    return this.#merged !== undefined;
  }

  /** The options for checking merged shards: a judge that cannot be asked. */
  get checkOptions(): Pick<EvaluatorOptions, "judge"> {
    return this.isMerging ? { judge: nobody } : {};
  }

  /** The file that is written; none for merged shards. */
  get output(): string[] {
    return this.isMerging ? [] : [this.file];
  }

  /** Which option names it, for errors. */
  get outputOption(): Record<string, string> {
    return Object.fromEntries(this.output.map((file) => [file, "journal"]));
  }

  /** Files that no output may overwrite, with what they are: the journals of shards, and the durations by which cases are divided. */
  get inputs(): (readonly [string, string])[] {
    return [
      ...this.#files.map((file) => [file, "journal of a shard"] as const),
      ...this.#balance.map((file) => [file, "file of --balance"] as const),
    ];
  }

  /**
   * Opens the file, which no other process may write then.
   *
   * @param numRuns How often each case is run; once where they were run already.
   */
  async open(inputs: readonly Input[], numRuns = 1): Promise<void> {
    if (this.isMerging) return;
    prepareFile(this.file);
    const { fileJournal } = await api();
    this.#journal = fileJournal(this.file, { onNotice: note });
    const whole = await this.#loaded(new JournalSection(this.#journal, COMMAND));
    this.#whole = whole;
    const balance = await Promise.all(this.#balance.map((file) => digestOf(readBytes(file, "file of --balance"))));
    if (this.#has((option) => option === "resume") && whole.inputsOf("shard") === undefined) {
      throw new Mistake("the journal is empty: there is nothing to resume", {
        location: this.file,
        help: "To start over, leave out --resume",
      });
    }
    const { index, count: parts } = this.shard ?? { index: 1, count: 1 };
    whole.begin("shard", { shard: `${index}/${parts}`, balance: balance.length === 0 ? undefined : balance.join() });
    if (whole.inputsOf("command") === undefined) whole.begin("command", this.#command as Record<string, unknown>);
    if (this.shard === undefined) return;
    const { divided } = await import("./shards.js");
    this.#isOurs = await divided(this.shard, this.#balance, inputs, numRuns);
  }

  /** Whether the command was given such an option. */
  #has(is: (option: string) => boolean): boolean {
    return Object.keys((this.#command as { options?: object }).options ?? {}).some(is);
  }

  async #loaded(section: JournalSection): Promise<JournalSection> {
    try {
      await section.load();
    } catch (error) {
      if (!isAdkMetricsError(error)) throw error;
      throw new Mistake(error.message, { location: error.path, help: error.help, cause: error });
    }
    return section;
  }

  /** The section of an evalset, or of a portion of it. */
  async section(evalSet: number, portion: number, evalSetId: string): Promise<JournalSection> {
    const journal = this.#merged ?? (this.#journal as FileJournal);
    const section = await this.#loaded(new JournalSection(journal, `${evalSet}/${portion}`, this.isMerging));
    const isOurs = this.#isOurs;
    if (isOurs !== undefined) section.isOurs = (evalId, run) => isOurs(evalSetId, evalId, run);
    const why = this.#whyMissing;
    if (why !== undefined) section.whyMissing = (evalId, run) => why(evalSet, evalId, run);
    this.#sections.push(section);
    return section;
  }

  /** Appends that the command is complete. */
  async end(): Promise<void> {
    this.#isComplete = true;
    await this.#whole?.end();
  }

  /**
   * Says on stderr how much of the journal was used, and which command resumes it.
   *
   * @param needsForce Whether the outputs, which are there now, would be in the way.
   */
  report(isInterrupted: boolean, needsForce = false): void {
    if (this.isMerging ? this.#files.length > 0 : this.#isComplete) {
      const unused = this.#sections.map((section) => section.unusedReplies);
      const [repeated, unasked] = [sumOf(unused.map((one) => one.repeated)), sumOf(unused.map((one) => one.unasked))];
      if (repeated > 0)
        note(`${count(repeated, "answer")} came to shards that had asked the same question; they count once`);
      if (unasked > 0)
        note(
          `${count(unasked, "stored answer")} ${unasked === 1 ? "was" : "were"} not needed: another call of the vote failed for good or was answered since, or --early-stop changed`,
        );
    }
    if (!this.isMerging) {
      const [runs, replies] = (["usedRuns", "usedReplies"] as const).map((one) =>
        sumOf(this.#sections.map((section) => section[one])),
      ) as [number, number];
      const used = [
        ...(runs > 0 ? [`${count(runs, "run")} of the agent`] : []),
        ...(replies > 0 ? [count(replies, "answer")] : []),
      ];
      const limited = this.#has((option) => option.startsWith("max-")) ? "; the budget includes what is in it" : "";
      if (used.length > 0) note(`${used.join(" and ")} from the journal ${this.file}${limited}`);
    }
    if (isInterrupted && !this.isMerging) note(`to continue: ${commandToGoOn(needsForce)}`);
    this.#journal?.close();
  }
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, one) => sum + one, 0);
}

/** The command that resumes this one, quoted for a shell. */
function commandToGoOn(needsForce: boolean): string {
  const args = process.argv.slice(2).filter((arg) => arg !== "--resume");
  return ["adk-metrics", ...args, "--resume", ...(needsForce ? ["--force"] : [])].map(quoted).join(" ");
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
