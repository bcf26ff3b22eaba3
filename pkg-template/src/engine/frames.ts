/** Where an error was thrown. */

import { quietly, shortened } from "./values.js";

/** The most frames of a stack that are shown. */
const MOST_FRAMES = 8;

/**
 * The file that this code is in, as stacks name it: what runs agents is there too, and tells their authors nothing. With source
 * maps it is the folder of the sources.
 */
const OWN_FILE = /(?:\(|@|at )([^\s()@]+):\d+:\d+\)?$/m
  .exec(new Error().stack ?? "")?.[1]
  ?.replace(/engine\/frames\.ts$/, "");

const PLACE_AMONG_MANY = /^at async Promise\.\w+ \(index \d+\)$/;

/**
 * The calls that led to an error, without those of Node and of this package. Where all of a program is one file, they are
 * shown all.
 */
export function framesOf(error: unknown): string[] {
  const stack = quietly(() => (error instanceof Error ? error.stack : undefined));
  if (typeof stack !== "string") return [];
  const all = stack
    .slice(0, 20_000)
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => /^at |@/.test(line) && !line.includes("node:"));
  const theirs = all.filter(
    (line) => (OWN_FILE === undefined || !line.includes(OWN_FILE)) && !line.endsWith("(<anonymous>)"),
  );
  const frames = theirs.length > 0 ? theirs : all;
  // Cases are run side by side: which of them this one was would make equal failures differ.
  while (PLACE_AMONG_MANY.test(frames.at(-1) ?? "")) frames.pop();
  const shown = frames.slice(0, MOST_FRAMES).map((line) => `    ${shortened(line)}`);
  return frames.length > shown.length ? [...shown, `    … ${frames.length - shown.length} more`] : shown;
}
