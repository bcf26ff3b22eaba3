/** What the command line shares with the process that it is: exit statuses, streams, colours. */

/** What the exit status says. */
export enum ExitStatus {
  /** Every case passed. */
  Passed = 0,
  /** Some case failed or was not evaluated. */
  Failed = 1,
  /** The command line or an input cannot be used, or an output cannot be written. */
  Unusable = 2,
  /** Ctrl-C: 128 and the number of the signal. */
  Interrupted = 130,
}

/** Keeps a stream that breaks from ending the process: who writes results is told, and a lost note is no loss. */
export function surviveBrokenStreams(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
}

/** Whether to colour: what the environment asks for, else whether the stream is a terminal. */
export function hasColor(stream: NodeJS.WriteStream): boolean {
  const { FORCE_COLOR, NO_COLOR, TERM } = process.env;
  if (FORCE_COLOR !== undefined) return FORCE_COLOR !== "0" && FORCE_COLOR !== "false";
  if (NO_COLOR !== undefined && NO_COLOR !== "") return false;
  return stream.isTTY && TERM !== "dumb";
}

const SGR = { bold: 1, dim: 2, red: 31, yellow: 33, cyan: 36 } as const;

/** A text in a colour, where the stream takes colours. */
export function paint(stream: NodeJS.WriteStream, color: keyof typeof SGR, text: string): string {
  return hasColor(stream) ? `\u001b[${SGR[color]}m${text}\u001b[0m` : text;
}

/** Says something on stderr that is worth knowing but no result. */
export function note(text: string): void {
  process.stderr.write(`${paint(process.stderr, "dim", text)}\n`);
}

/** Warns on stderr. */
export function warn(text: string, place?: string, help?: string): void {
  const lines = [`${paint(process.stderr, "yellow", "warning:")} ${text}`];
  if (place !== undefined) lines.push(`   at ${place}`);
  if (help !== undefined) lines.push(`   ${paint(process.stderr, "cyan", "help:")} ${help}`);
  process.stderr.write(`${lines.join("\n")}\n`);
}
