// Node only, for the command line.
import { join } from "node:path";
import { PROVIDERS } from "../generated/providers.js";

/**
 * The variables in the text of a `.env` file: `NAME=value` a line, `export` before it allowed, values bare or in quotes,
 * which may span lines. In double quotes `\n`, `\r`, `\t`, `\"` and `\\` are escapes. A `#` begins a comment at the start
 * of a line, after a quoted value, and after white space in a bare one. Nothing is expanded. Lines of any other form are
 * passed over. O(n).
 */
export function parseDotenv(text: string): Record<string, string> {
  const variables: Record<string, string> = {};
  const begins = new RegExp(BEGIN);
  for (let found = begins.exec(text); found !== null; found = begins.exec(text)) {
    const { value, end } = valueAt(text, begins.lastIndex);
    Object.defineProperty(variables, found[1] ?? "", { value, enumerable: true, configurable: true, writable: true });
    begins.lastIndex = lineEnd(text, end);
  }
  return variables;
}

const BEGIN = /^\ufeff?[ \t]*(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_.-]*)[ \t]*=[ \t]*/gm;

/** The value that begins somewhere, and where it ends. No expression reads it: they have a limit on repetitions. */
function valueAt(text: string, begin: number): { value: string; end: number } {
  const quote = text.charAt(begin);
  const end = quote === '"' ? unescapedQuote(text, begin + 1) : quote === "'" ? text.indexOf("'", begin + 1) : -1;
  if (end !== -1) {
    const value = text.slice(begin + 1, end);
    return { value: quote === '"' ? value.replace(/\\([nrt"\\])/g, unescaped) : value, end };
  }
  const line = text.slice(begin, lineEnd(text, begin));
  const comment = line.search(/(?:^|(?<=[\s=]))#/);
  return { value: (comment === -1 ? line : line.slice(0, comment)).trim(), end: begin };
}

function unescapedQuote(text: string, begin: number): number {
  for (let at = begin; at < text.length; at += 1) {
    if (text[at] === "\\") at += 1;
    else if (text[at] === '"') return at;
  }
  return -1;
}

function lineEnd(text: string, begin: number): number {
  const end = /[\r\n]/g;
  end.lastIndex = begin;
  return end.exec(text)?.index ?? text.length;
}

function unescaped(_: string, letter: string): string {
  return { n: "\n", r: "\r", t: "\t" }[letter] ?? letter;
}

/**
 * The names that are taken from a `.env` file: who is asked, where, and with which key. A file in a folder may be
 * somebody else's, and other variables run code in child processes (`LD_PRELOAD`, `CLOUDSDK_PYTHON`, `NODE_OPTIONS`).
 */
export const DOTENV_NAMES: readonly string[] = [
  ...new Set(Object.values(PROVIDERS).flatMap(({ keys, address }) => [...keys, address])),
  "GOOGLE_GENAI_USE_VERTEXAI",
  "GOOGLE_CLOUD_PROJECT",
  "GOOGLE_CLOUD_LOCATION",
  "GOOGLE_OAUTH_ACCESS_TOKEN",
  "CLOUDSDK_AUTH_ACCESS_TOKEN",
];

/** Names that a user may expect to have an effect, and that have none in a `.env` file. */
const RELEVANT =
  /^(?:GOOGLE|GEMINI|GCLOUD|CLOUDSDK|VERTEX|OPENAI|AZURE|ANTHROPIC|CLAUDE|OLLAMA|ADK|LITELLM|LD|DYLD|NODE|NPM|PYTHON|SSL)_|^(?:BASH_ENV|ENV|PATH|PYTHON\w+|NO_COLOR|FORCE_COLOR)$|_PROXY$/i;

/** A `.env` file. */
export interface Dotenv {
  file: string;
  /** What is taken from it: only {@link DOTENV_NAMES}, and none that is empty. */
  variables: Readonly<Record<string, string>>;
  /** Names in it that are not taken although a user may expect so. */
  ignored: readonly string[];
  /** The other names in it that are not taken. */
  others: readonly string[];
}

/**
 * Reads the `.env` file of a folder, if there is one.
 *
 * @param read What reads a file: its bytes, or nothing if there is no file of this name.
 */
export function readDotenv(folder: string, read: (file: string) => Uint8Array | undefined): Dotenv | undefined {
  const file = join(folder, ".env");
  const bytes = read(file);
  if (bytes === undefined) return undefined;
  const all = Object.entries(parseDotenv(new TextDecoder().decode(bytes)));
  const isTaken = (name: string) => DOTENV_NAMES.includes(name);
  const rest = all.map(([name]) => name).filter((name) => !isTaken(name));
  return {
    file,
    variables: Object.fromEntries(all.filter(([name, value]) => isTaken(name) && value.trim() !== "")),
    ignored: rest.filter((name) => RELEVANT.test(name)),
    others: rest.filter((name) => !RELEVANT.test(name)),
  };
}
