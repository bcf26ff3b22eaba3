/** What an agent threw, in words: its class, message, where it was thrown, and what caused it. */

import { messageOf } from "../engine/values.js";
import { isAdkMetricsError } from "../errors.js";
import { shortened } from "../judges/reply.js";
import { AgentError } from "./record.js";

/** Frames of a stack that are told, and causes that are followed. */
const MOST_FRAMES = 8;
const MOST_CAUSES = 5;

/**
 * Why a run failed. The first line says it all; the lines below are the stack, and one paragraph for each cause.
 *
 * @param turn The turn in which it failed, counted from 1; absent if the agent was in none.
 */
export function reasonOf(error: unknown, turn?: number): string {
  const where = turn === undefined ? "" : `turn ${turn}: `;
  if (isAdkMetricsError(error)) {
    const words = error.toString();
    const namesTurn = error.code === "cancelled" || words.includes(`turn ${turn} `);
    return [`${namesTurn ? "" : where}${words}`, ...causesOf(error)].join("\n");
  }
  if (error === undefined || error === null || error === "") return `${where}the agent failed without an error`;
  return [`${where}${titleOf(error)}`, ...framesOf(error), ...causesOf(error)].join("\n");
}

/** `TypeError: it is not a function` */
function titleOf(error: unknown): string {
  if (quietly(() => error instanceof AgentError) === true) return shortened((error as AgentError).message);
  const message = shortened(messageOf(error));
  const name = nameOf(error);
  // A class that sets no name calls itself by that of the class it extends.
  const own = /^Error(?:: |$)/.exec(message)?.[0];
  if (name !== undefined && name !== "Error" && own !== undefined) return `${name}: ${message.slice(own.length)}`;
  return name === undefined || message.startsWith(`${name}: `) || message === name ? message : `${name}: ${message}`;
}

/** The class of an error; nothing for what is none, and for what an agent reported as an event. */
function nameOf(error: unknown): string | undefined {
  return quietly(() => {
    if (!(error instanceof Error)) return undefined;
    const name: unknown = error.name === "Error" ? (error.constructor?.name ?? error.name) : error.name;
    return typeof name === "string" && name !== "" ? shortened(name) : undefined;
  });
}

/**
 * The file that this code is in, as stacks name it: what runs agents is there too, and tells their authors nothing. With source
 * maps it is the folder of the sources.
 */
const OWN_FILE = /(?:\(|@|at )([^\s()@]+):\d+:\d+\)?$/m
  .exec(new Error().stack ?? "")?.[1]
  ?.replace(/agents\/failure\.ts$/, "");

const PLACE_AMONG_MANY = /^at async Promise\.\w+ \(index \d+\)$/;

/**
 * The calls that led to an error, without those of Node and of this package. Where all of a program is one file, they are
 * shown all.
 */
function framesOf(error: unknown): string[] {
  const stack = quietly(() => (error instanceof Error && !(error instanceof AgentError) ? error.stack : undefined));
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

/** What caused an error, and that in turn. */
function causesOf(error: unknown): string[] {
  const lines: string[] = [];
  let next = causeOf(error);
  for (let depth = 0; next !== undefined && next !== null && depth < MOST_CAUSES; depth += 1) {
    lines.push(`Caused by: ${titleOf(next)}`, ...framesOf(next));
    next = causeOf(next);
  }
  return lines;
}

function causeOf(error: unknown): unknown {
  return quietly(() =>
    typeof error === "object" && error !== null ? (error as { cause?: unknown }).cause : undefined,
  );
}

/** Errors of an agent may throw when they are read. */
function quietly<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
