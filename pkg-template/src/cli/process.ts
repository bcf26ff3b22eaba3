/** What the command line shares with the process that it is: exit statuses, streams, colours. */

import { fstatSync, writeFileSync } from "node:fs";
import { messageOf } from "../engine/values.js";
import { defused, oneLine } from "../report/text.js";

/** What the exit status says. */
export enum ExitStatus {
  /** Every case passed. */
  Passed = 0,
  /** Some case failed or was not evaluated. */
  Failed = 1,
  /** The command line or an input cannot be used, or an output cannot be written. */
  Unusable = 2,
  /** A judge or a simulated user was asked, and not one call got a reply. */
  Unreached = 3,
  /** Ctrl-C: 128 and the number of the signal. */
  Interrupted = 130,
  /** SIGTERM, likewise. */
  Terminated = 143,
}

/** Keeps a stream that breaks from ending the process: a failure to write results is reported, lost notes are ignored. */
export function surviveBrokenStreams(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
}

/** Whether to colour: what the environment asks for, else whether the stream is a terminal. */
function hasColor(stream: NodeJS.WriteStream): boolean {
  const { FORCE_COLOR, NO_COLOR, TERM } = process.env;
  if (FORCE_COLOR !== undefined) return FORCE_COLOR !== "0" && FORCE_COLOR !== "false";
  if (NO_COLOR !== undefined && NO_COLOR !== "") return false;
  return stream.isTTY && TERM !== "dumb";
}

/** How a table is drawn on stdout, or in a file. */
export function screenOptions(onScreen: boolean): { color: boolean; width: number } {
  const { stdout } = process;
  return { color: onScreen && hasColor(stdout), width: onScreen && stdout.isTTY ? stdout.columns : 100 };
}

const SGR = { bold: 1, dim: 2, red: 31, yellow: 33, cyan: 36 } as const;

/** A text in a colour, where the stream takes colours. */
export function paint(stream: NodeJS.WriteStream, color: keyof typeof SGR, text: string): string {
  return hasColor(stream) ? `\u001b[${SGR[color]}m${text}\u001b[0m` : text;
}

/**
 * Writes something to stderr that is worth knowing but not a result. Like all that goes there it may quote names that nobody
 * has vetted, so it is one line on which no character acts and no CI system finds a command.
 */
export function note(text: string): void {
  if (isQuiet) return;
  process.stderr.write(defused(`${paint(process.stderr, "dim", oneLine(text))}\n`));
}

let isQuiet = false;

/** The levels of `adk eval --log_level`. */
export const LOG_LEVELS = ["debug", "info", "warning", "error", "critical"] as const;

/** From `warning` on notes are left out, which say nothing of what is wrong; `debug` adds stacks to errors. */
export function setLogLevel(level: (typeof LOG_LEVELS)[number]): void {
  isQuiet = LOG_LEVELS.indexOf(level) > LOG_LEVELS.indexOf("info");
  if (level === "debug") process.env.ADK_METRICS_DEBUG = "1";
}

let warnings = 0;
/** The warnings given: those known before an agent is run are in the results too. */
const warned = new Set<string>();

/** How many warnings were given. */
export function warningCount(): number {
  return warnings;
}

/** The exit status that `--strict` gives warnings, which it says on stderr. */
export function refusedByStrict(): ExitStatus {
  note("--strict: there are warnings, so the exit status is 2");
  return ExitStatus.Unusable;
}

/** Warns on stderr. */
export function warn(text: string, location?: string, help?: string): void {
  const notice = noticeText(paint(process.stderr, "yellow", "warning:"), { message: text, location: location, help });
  if (warned.has(notice)) return;
  warned.add(notice);
  warnings += 1;
  process.stderr.write(notice);
}

/** What is wrong, where, and what to do about it: a line each, for stderr. */
export function noticeText(
  label: string,
  { message, location, help }: { message: string; location: string | undefined; help: string | undefined },
): string {
  const lines = [`${label} ${oneLine(message)}`];
  if (location !== undefined) lines.push(`   at ${oneLine(location)}`);
  if (help !== undefined) lines.push(`   ${paint(process.stderr, "cyan", "help:")} ${oneLine(help)}`);
  return defused(`${lines.join("\n")}\n`);
}

const writeToStdout = process.stdout.write.bind(process.stdout);
let isHosting = false;
let isEnding = false;

/** Ends the process. Nobody else does: where the user's code ends it, that is an error. */
export function endProcess(status: ExitStatus): never {
  isEnding = true;
  process.exit(status);
}

/**
 * Prepares for the user's code, which may print: that goes to stderr, since stdout is for results. What it throws
 * outside of awaited calls is reported, and does not end the process.
 */
export function hostUserCode(): void {
  if (isHosting) return;
  isHosting = true;
  process.stdout.write = process.stderr.write.bind(process.stderr) as typeof process.stdout.write;
  const printed = new Set<string>();
  const say = (error: unknown) => {
    const words = messageOf(error);
    if (printed.has(words)) return;
    printed.add(words);
    warn(`the loaded code threw an error that nobody caught: ${words}`);
  };
  process.on("exit", () => {
    if (isEnding) return;
    // Whatever status that code asked for: results are missing.
    process.exitCode = ExitStatus.Unusable;
    process.stderr.write(
      noticeText(paint(process.stderr, "red", "error:"), {
        message: "the loaded code ended the process, so results are missing",
        location: undefined,
        help: "Modules of agents, metrics and judges must not call process.exit()",
      }),
    );
  });
  process.on("uncaughtException", say);
  process.on("unhandledRejection", say);
}

/** Writes a result to stdout, also where others may not. */
export function writeResult(text: string, done: (error: Error | null | undefined) => void): void {
  if (!isStdoutFile()) {
    writeToStdout(text, done);
    return;
  }
  try {
    // To a file, the stream writes what fits on the disk and takes that for all.
    writeFileSync(process.stdout.fd, text);
    done(undefined);
  } catch (error) {
    done(error as Error);
  }
}

function isStdoutFile(): boolean {
  try {
    return fstatSync(process.stdout.fd).isFile();
  } catch {
    return false;
  }
}

/** Ends the process if the user's code may have left something running. */
export async function endUserCode(status: ExitStatus): Promise<void> {
  if (!isHosting) return;
  await new Promise((resolve) => process.stderr.write("", resolve));
  endProcess(status);
}
