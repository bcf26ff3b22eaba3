/** The agent that the user names: the module that holds it, which of its exports it is, and what is made of it. */

import { basename, join } from "node:path";
import { isAgent, type Subject, subjectOf, UNNAMED } from "../agents/adapters.js";
import type { Agent } from "../agents/agent.js";
import { provideAgentHost } from "../agents/host.js";
import { lookBeside, nodeAgentHost } from "../agents/node.js";
import { isObject, messageOf, quietly } from "../engine/values.js";
import { isAdkMetricsError } from "../errors.js";
import {
  exportOf,
  type Exports,
  inTime,
  layersOf,
  loadModule,
  type ModuleName,
  moduleNameOf,
} from "../modules/load.js";
import { kindOf } from "./files.js";
import { Mistake } from "./mistakes.js";

/** What an agent's module may call it, in the order in which it is looked for; besides the default export. */
const NAMES = ["agent", "rootAgent", "root_agent"];

/** What an agent's module may be called in its folder. */
export const AGENT_FILES = ["agent", "index"].flatMap((name) =>
  ["ts", "mts", "cts", "mjs", "js", "cjs"].map((ending) => `${name}.${ending}`),
);

/** Whether a path is that of an agent in Python: a module, or a folder as google-adk has it. */
export function isPython(path: string): boolean {
  if (kindOf(path) !== "folder") return path.endsWith(".py");
  return ["agent.py", "__init__.py"].some((name) => kindOf(join(path, name)) === "file");
}

export const PYTHON_HELP = "This program cannot run agents written in Python: run it with google-adk";

/**
 * An agent in Python where one is to be run.
 *
 * @param evalSets The evalsets that were named, as the command takes them.
 */
export function pythonAgent(location: string, evalSets: string): Mistake {
  return new Mistake("this agent is written in Python, which cannot be run here", {
    location,
    help: `Run it with google-adk, then score its sessions, traces or results: adk-metrics eval ${evalSets} --actual <file>`,
  });
}

/**
 * Finds the module of an agent: `./agent.ts`, `./agent.ts#weather`, or a folder that holds `agent.ts` or the like.
 *
 * @throws {Mistake} for a folder without one.
 */
export function agentModuleOf(given: string): ModuleName {
  const found = moduleOf(given);
  if (kindOf(found.file) !== "folder") {
    if (isPython(found.file)) throw pythonAgent(given, "<evalset>");
    return found;
  }
  const inside = AGENT_FILES.map((name) => join(found.file, name)).find((file) => kindOf(file) === "file");
  if (inside !== undefined) return { ...found, file: inside };
  if (isPython(found.file)) throw pythonAgent(given, "<evalset>");
  throw new Mistake("the folder contains no agent", {
    location: given,
    help: `Specify the module's file, or name it ${AGENT_FILES.slice(0, 4).join(", ")} or similar`,
  });
}

/** A module that the command line names, and maybe an export: `./agent.ts#weather` or `./agent.ts:weather`. */
export function moduleOf(given: string): ModuleName {
  const name = moduleNameOf(given, process.cwd());
  const [, file, key] = /^(.+\.[cm]?[jt]sx?):([A-Za-z_$][\w$]*)$/.exec(given) ?? [];
  if (file === undefined || key === undefined || name.name !== undefined || kindOf(given) === "file") return name;
  return { ...moduleNameOf(file, process.cwd()), name: key };
}

/**
 * Loads an agent. A function without parameters is called once: it makes the agent, unless what it gives is none; then it is
 * the agent itself.
 *
 * @param timeoutMs How long each step may take.
 * @throws {Mistake} if the module cannot be loaded, or does not export an agent.
 */
export async function loadAgent(module: ModuleName, timeoutMs: number): Promise<Subject> {
  const { file } = module;
  const exports = await loadModule(file, "agent", timeoutMs);
  provideAgentHost(nodeAgentHost);
  lookBeside(file);
  const { value, name } = chosen(exports, module);
  try {
    const agent = inTime(made(value), "making the agent", timeoutMs);
    const subject = await subjectOf((await agent) as Agent);
    return subject.name === UNNAMED ? { ...subject, name: basename(file) } : subject;
  } catch (error) {
    const message = isAdkMetricsError(error) ? error.message : messageOf(error);
    // Another copy of this package has errors of its own, with help.
    const own = quietly(() => (error as Partial<Mistake>).help);
    const help = typeof own === "string" ? own : makesAgent(value) ? MAKER_HELP : undefined;
    throw new Mistake(message, { location: `${file}, the export ${name}`, help, cause: error });
  }
}

/** What helps if a function without parameters fails, which may be the agent itself. */
const MAKER_HELP =
  "The function has no parameters, so it was called to create the agent. An agent takes the message as a parameter";

function chosen(exports: Exports, { file, name }: ModuleName): { value: unknown; name: string } {
  const names = [...new Set(layersOf(exports).flatMap((layer) => Object.keys(layer)))];
  const others = names.filter((key) => key !== "default" && key !== "module.exports");
  const has = others.length === 0 ? "It has no named exports" : `It exports ${others.join(", ")}`;
  if (name !== undefined) {
    const value = exportOf(exports, name);
    if (value !== undefined) return { value, name };
    throw new Mistake(`the agent's module does not export \`${name}\``, { location: file, help: has });
  }
  // What CommonJS exports is the default export, which may hold the agent, as an agent may hold others.
  for (const layer of layersOf(exports)) {
    if (mayBeAgent(layer.default)) return { value: layer.default, name: "default" };
    const key = NAMES.find((known) => mayBeAgent(layer[known]));
    if (key !== undefined) return { value: layer[key], name: key };
  }
  throw new Mistake("the module exports no agent", {
    location: file,
    help: `Export the agent as default, ${NAMES.join(", ")}, or specify its export: --agent ${basename(file)}#name. ${has}`,
  });
}

function mayBeAgent(value: unknown): boolean {
  return typeof value === "function" || isAgent(value) || isPromise(value);
}

function isPromise(value: unknown): boolean {
  return isObject(value) && typeof (value as Partial<Promise<unknown>>).then === "function";
}

/** Whether it is called once before anything is run, since what it gives may be the agent. */
function makesAgent(value: unknown): value is () => unknown {
  return typeof value === "function" && value.length === 0 && !/^class\b/.test(Function.prototype.toString.call(value));
}

async function made(value: unknown): Promise<unknown> {
  const given = await value;
  if (!makesAgent(given)) return given;
  const product = await given();
  return typeof product === "function" || isAgent(product) ? product : given;
}
