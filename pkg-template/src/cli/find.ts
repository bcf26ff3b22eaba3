/** Finds evalsets: in folders, by patterns that no shell has expanded, and by the ids that `adk eval` takes. */

import { type Dirent, readdirSync, realpathSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { AGENT_FILES, isPython, PYTHON_HELP, pythonAgent } from "./agent.js";
import { kindOf, reasonOf, type Selection, selectionOf } from "./files.js";
import { Mistake } from "./mistakes.js";

/** Folders that contain no evalsets. */
const SKIPPED = new Set(["node_modules", "dist", "build", "coverage", "__pycache__", "venv"]);

/** What evalsets are called, in today's form and in the old one. */
const EVALSET = /\.(?:evalset\.jsonl?|test\.json)$/i;

const ID_ENDING = ".evalset.json";

/**
 * The folder of an agent that precedes evalsets, as `adk eval <agent folder> <evalset>…` has it.
 *
 * @returns Nothing if the first argument is a folder of evalsets, or the only argument.
 */
function agentFolderOf(positionals: readonly string[]): string | undefined {
  const [folder, ...others] = positionals;
  if (folder === undefined || others.length === 0 || kindOf(folder) !== "folder") return undefined;
  return AGENT_FILES.some((name) => kindOf(join(folder, name)) === "file") ? folder : undefined;
}

/**
 * The folder in which evalsets are looked for by their ids: that of an agent, as {@link agentFolderOf}, also of one in Python,
 * and any other that holds one of those ids. A name of a file is not an id.
 */
function folderOfIds(positionals: readonly string[]): string | undefined {
  const agent = agentFolderOf(positionals);
  const [folder, ...others] = positionals;
  if (agent !== undefined || folder === undefined || others.length === 0 || kindOf(folder) !== "folder") return agent;
  const named = others.map((argument) => selectionOf(argument).file);
  if (named.some((file) => kindOf(file) === "folder")) return undefined;
  const isOfId = (file: string) => [file, file + ID_ENDING].every((path) => kindOf(path) === undefined);
  const holds = (name: string) => kindOf(join(folder, name)) === "file";
  return holds("agent.py") || named.some((file) => isOfId(file) && holds(file + ID_ENDING)) ? folder : undefined;
}

/**
 * The folder of the agent that is to be run: as {@link agentFolderOf}, or the one folder that is named, by itself or with an
 * evalset's id as `agent/evalset1`, if it holds `agent.ts` or the like. A file runs nothing that happens to lie beside it.
 */
export function agentToRun(positionals: readonly string[]): string | undefined {
  const before = agentFolderOf(positionals);
  if (before !== undefined) return before;
  const folders = new Set(
    positionals.map((argument) => {
      const { file } = selectionOf(argument);
      if (kindOf(file) === "folder") return file;
      return kindOf(file + ID_ENDING) === "file" ? dirname(file) : undefined;
    }),
  );
  const [folder] = folders;
  if (folder === undefined || folders.size > 1) return undefined;
  return agentIn(folder) === undefined ? undefined : folder;
}

/**
 * The evalsets that arguments name: a file; a folder, with all below it; a pattern such as `evals/*.evalset.json`; an
 * evalset's id after its folder, as `agent evalset1`, or with it as `agent/evalset1`. Each may be followed by a colon and cases.
 * A file that several of them name is one evalset.
 *
 * @param skipped Folders that hold no evalsets although they may look so, such as those of runs.
 * @throws {Mistake} for a folder or a pattern without any, and for an agent's module.
 */
export function findEvalSets(positionals: readonly string[], skipped: readonly string[]): Selection[] {
  refuseModules(positionals);
  const folder = folderOfIds(positionals);
  const named = folder === undefined ? positionals : positionals.slice(1);
  const without = new Set(skipped.map((folder) => resolve(folder)));
  const found = new Map<string, Selection>();
  for (const argument of named) {
    const { file, evalIds } = selectionOf(argument);
    for (const one of filesFor(file, folder, without)) {
      const path = realPath(one);
      const known = found.get(path);
      found.set(path, known === undefined ? { file: one, ...(evalIds && { evalIds }) } : joined(known, evalIds));
    }
  }
  return [...found.values()];
}

/** An evalset that several arguments name: the cases of all, as `adk eval` has it. */
function joined({ file, evalIds: before }: Selection, evalIds: readonly string[] | undefined): Selection {
  if (before === undefined || evalIds === undefined) return { file };
  return { file, evalIds: [...new Set([...before, ...evalIds])] };
}

/** Where a file is, whatever links lead to it. */
export function realPath(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return resolve(file);
  }
}

function filesFor(named: string, inside: string | undefined, skipped: ReadonlySet<string>): string[] {
  const kind = kindOf(named);
  if (kind === "file") return [named];
  if (kind === "folder") {
    const files = [...filesBelow(named, skipped)].filter((file) => EVALSET.test(file));
    if (files.length > 0) return files;
    throw new Mistake("there is no evalset in the folder", {
      location: named,
      help: "Looked for *.evalset.json and *.test.json in it and in the folders below; specify files with other names one by one",
    });
  }
  const byId = [named + ID_ENDING, ...(inside === undefined ? [] : [join(inside, named + ID_ENDING)])];
  const evalSet = byId.find((file) => kindOf(file) === "file");
  if (evalSet !== undefined) return [evalSet];
  if (inside !== undefined && !/[\\/.]/.test(named)) return [join(inside, named + ID_ENDING)];
  return filesMatching(named, skipped) ?? [named];
}

/** The files that match a pattern; undefined for any other text. @throws {Mistake} if no file matches. */
export function filesMatching(named: string, skipped: ReadonlySet<string> = new Set()): string[] | undefined {
  if (kindOf(named) !== undefined || !/[*?[{]/.test(named)) return undefined;
  const pattern = named.replaceAll("\\", "/");
  const fixed = /^(?:[^*?[{]*\/)?/.exec(pattern)?.[0] ?? "";
  const folder = fixed || ".";
  if (kindOf(folder) !== "folder") {
    const help = `There is no folder ${resolve(folder)}`;
    throw new Mistake("no file matches the pattern", { location: named, help });
  }
  const matches = regExpOf(pattern, named);
  const files = [...filesBelow(folder, skipped)].filter((file) => matches.test(file.replaceAll("\\", "/")));
  if (files.length > 0) return files;
  throw new Mistake("no file matches the pattern", { location: named, help: `Looked in ${resolve(folder)}` });
}

/** The files of a folder and of those below it, in the order of their names; no links to folders are followed. */
function* filesBelow(folder: string, skipped: ReadonlySet<string>): Generator<string> {
  for (const entry of entriesOf(folder)) {
    const path = folder === "." ? entry.name : join(folder, entry.name);
    if (!entry.isDirectory()) yield path;
    else if (!SKIPPED.has(entry.name) && !entry.name.startsWith(".") && !skipped.has(resolve(path))) {
      yield* filesBelow(path, skipped);
    }
  }
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    throw new Mistake(`the folder cannot be read: ${reasonOf(error)}`, { location: folder });
  }
}

/** A pattern as a regular expression: `*` and `?` within a name, `**` across folders, `[ab]`, `{a,b}`. */
function regExpOf(pattern: string, named: string): RegExp {
  let depth = 0;
  const source = pattern.replace(/^\.\//, "").replace(/\*\*\/?|[*?{},]|\[[^\]/]+\]|[^*?{},[]+|\[/g, (part) => {
    if (part === "**/") return "(?:[^/]+/)*";
    if (part === "**") return ".*";
    if (part === "*") return "[^/]*";
    if (part === "?") return "[^/]";
    if (part === "{") return (depth++, "(?:");
    if (part === "}") return depth > 0 ? (depth--, ")") : "\\}";
    if (part === ",") return depth > 0 ? "|" : ",";
    if (part.length > 2 && part.startsWith("[")) return part.replace(/^\[!/, "[^").replaceAll("\\", "\\\\");
    return part.replace(/[.+^$()|[\]\\]/g, "\\$&");
  });
  try {
    return new RegExp(`^(?:${source})${")".repeat(depth)}$`);
  } catch {
    const help = "A range in [ ] goes from the lower character to the higher one, as in [a-z]";
    throw new Mistake("the pattern is invalid", { location: named, help });
  }
}

/** What to do instead of an `eval` that lacks what the agent did. */
export function insteadOfActual(evalSet: string, positionals: readonly string[]): string {
  const folder = dirname(evalSet);
  const agent = agentToRun(positionals) ?? agentIn(folder);
  if (agent === undefined && isPython(folder)) {
    return `${PYTHON_HELP}, and pass the file of what it did as --actual <file>`;
  }
  const command = `adk-metrics run --agent ${quoted(agent ?? "<module>")} ${quoted(evalSet)}`;
  return `To run the agent and score what it does: ${command}. Or pass the file as --actual <file>`;
}

function quoted(path: string): string {
  return /\s/.test(path) ? `"${path}"` : path;
}

/** The agent beside an evalset, as `--agent` takes it. */
function agentIn(folder: string): string | undefined {
  const file = AGENT_FILES.find((name) => name.startsWith("agent.") && kindOf(join(folder, name)) === "file");
  if (file === undefined) return undefined;
  return folder === "." ? `./${file}` : folder;
}

/**
 * Refuses an agent's module passed as an evalset, as `adk eval agent/__init__.py evalset1` has it.
 *
 * @throws {Mistake} that says what to write instead.
 */
export function refuseModules(positionals: readonly string[]): void {
  const module = positionals.find((argument) => MODULE.test(argument) && kindOf(argument) === "file");
  if (module === undefined) return;
  const folder = dirname(module);
  const others = positionals.filter((argument) => argument !== module);
  const evalSets = others.map((argument) => {
    const { file } = selectionOf(argument);
    const inside = join(folder, file + ID_ENDING);
    return quoted(
      kindOf(file) === undefined && kindOf(inside) === "file" ? inside + argument.slice(file.length) : argument,
    );
  });
  const named = evalSets.length === 0 ? quoted(folder) : evalSets.join(" ");
  if (module.endsWith(".py")) throw pythonAgent(module, named);
  throw new Mistake("this is a module, not an evalset", {
    location: module,
    help: `To run its agent and score what it does: adk-metrics run --agent ${quoted(module)} ${named}`,
  });
}

const MODULE = /\.(?:py|[cm]?[jt]sx?)$/;
