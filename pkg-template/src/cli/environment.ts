/** The variables of the command: the process's own, then those of `.env` files, each with where it is from. */

import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { PROVIDERS } from "../generated/providers.js";
import { type Dotenv, readDotenv } from "../judges/dotenv.js";
import type { Environment } from "../judges/environment.js";
import { readIfThere } from "./files.js";
import { Mistake } from "./mistakes.js";
import { note } from "./process.js";

/** What the process was given, and all that child processes are given: nothing of a `.env`. */
export const OWN_ENVIRONMENT: Environment = { ...process.env };

/** The keys that each address is asked with, in the order in which they are looked for. */
const KEYS = new Map(Object.values(PROVIDERS).map(({ address, keys }) => [address, keys]));

/** What the names of the variables have in them that clients of each provider may send to its address. */
const OWNERS: Readonly<Record<string, RegExp>> = {
  OPENAI_BASE_URL: /OPENAI/i,
  ANTHROPIC_BASE_URL: /ANTHROPIC/i,
  OLLAMA_HOST: /OLLAMA/i,
  GOOGLE_GEMINI_BASE_URL: /GOOGLE|GEMINI/i,
  GOOGLE_VERTEX_BASE_URL: /GOOGLE|GEMINI|VERTEX|CLOUDSDK/i,
};
const SECRET = /KEY|TOKEN|SECRET/i;

/** The process's own variables and those of `.env` files; the process's own win, then those of the first file. */
export class Variables {
  readonly environment: Environment;
  readonly #files = new Map<string, string>();
  readonly #dotenvs: readonly Dotenv[];

  constructor(own: Environment, dotenvs: readonly Dotenv[]) {
    this.#dotenvs = dotenvs;
    const environment: Record<string, string | undefined> = { ...own };
    for (const { file, variables } of dotenvs) {
      for (const [name, value] of Object.entries(variables)) {
        if ((environment[name] ?? "").trim() !== "") continue;
        environment[name] = value;
        this.#files.set(name, file);
      }
    }
    this.environment = environment;
  }

  /** The `.env` file that a variable is from; nothing for one of the process's own. */
  fileOf(name: string): string | undefined {
    return this.#files.get(name);
  }

  /** The variable of the key that is sent to an address, if there is one. */
  keyFor(address: string): string | undefined {
    return KEYS.get(address)?.find((name) => (this.environment[name] ?? "").trim() !== "");
  }

  /**
   * Makes sure that a key goes to no address that somebody else may have named: one from a `.env` file is only asked
   * with a key from the same file.
   *
   * @param key The variable of the key or token that would be sent; `gcloud` for its token.
   * @throws {Mistake} that says where both are from.
   */
  checkAddress(address: string, key: string | undefined): void {
    const file = this.fileOf(address);
    if (file === undefined || key === undefined || this.fileOf(key) === file) return;
    const secret = key === GCLOUD ? "the token" : key;
    const source = key === GCLOUD ? "gcloud" : (this.fileOf(key) ?? "the environment");
    throw new Mistake(`${address} comes from ${file}, but ${secret} comes from ${source}`, {
      help:
        key === GCLOUD
          ? `Set ${address} in the environment: a token of gcloud is never sent to an address from a .env file`
          : `Set both in the environment, or both in the same .env file: other keys are never sent to an address from a .env file`,
    });
  }

  /** What of the `.env` files an agent gets: the addresses too, as far as no other key goes there. Says what it does not get. */
  forAgent(): Record<string, string> {
    const given: Record<string, string> = {};
    for (const { file, others } of this.#dotenvs) {
      if (others.length === 0) continue;
      note(`${file}: ${others.join(", ")} ${others.length === 1 ? "is" : "are"} not passed to the agent`);
    }
    for (const [name, file] of this.#files) {
      const secret = this.#secretFor(name);
      if (secret === undefined) given[name] = this.environment[name] ?? "";
      else
        note(
          `${file}: ${name} is not passed to the agent, because ${secret}, which comes from elsewhere, could be sent there`,
        );
    }
    return given;
  }

  /**
   * What an agent could send to an address of a `.env` although it is from elsewhere. Nobody knows which client an agent
   * has: OpenAI's sends `OPENAI_ADMIN_KEY` and `AZURE_OPENAI_API_KEY` too, Anthropic's `ANTHROPIC_AUTH_TOKEN`.
   */
  #secretFor(name: string): string | undefined {
    const owner = OWNERS[name];
    if (owner === undefined) return undefined;
    if (name === "GOOGLE_VERTEX_BASE_URL") {
      // With a project, or without a key, Google's client sends the token of the user's own credentials.
      const hasProject = (this.environment.GOOGLE_CLOUD_PROJECT ?? "").trim() !== "";
      if (hasProject || this.fileOf("GOOGLE_API_KEY") !== this.fileOf(name)) return "a Google Cloud token";
    }
    const file = this.fileOf(name);
    return Object.keys(this.environment).find((secret) => {
      const isItsOwn = owner.test(secret) && SECRET.test(secret);
      return isItsOwn && (this.environment[secret] ?? "").trim() !== "" && this.fileOf(secret) !== file;
    });
  }
}

/** Stands for the token that gcloud gives. */
export const GCLOUD = "gcloud";

const folders: string[] = [];
let found: Variables | undefined;

/** Has the `.env` beside an agent count too: that of its folder and of those above, up to the working directory. */
export function readDotenvBeside(file: string): void {
  const cwd = process.cwd();
  let folder = dirname(resolve(file));
  const isInside = (path: string) => {
    const way = relative(cwd, path);
    return way !== "" && way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
  };
  do {
    folders.push(relative(cwd, folder) || ".");
    folder = dirname(folder);
  } while (isInside(folder));
}

/**
 * The variables of this command, read once; says which of a `.env` file are not taken.
 *
 * @throws {Mistake} for a `.env` that cannot be read.
 */
export function commandVariables(): Variables {
  if (found !== undefined) return found;
  const dotenvs: Dotenv[] = [];
  for (const folder of new Set([...folders, "."])) {
    const dotenv = readDotenv(folder, (file) => readIfThere(file, "file .env"));
    if (dotenv === undefined) continue;
    dotenvs.push({ ...dotenv, file: folder === "." ? ".env" : join(folder, ".env") });
    const { length } = dotenv.ignored;
    if (length === 0) continue;
    const are = length === 1 ? "is" : "are";
    const names = dotenv.ignored.join(", ");
    note(
      `${dotenv.file}: ${names} ${are} ignored; only the keys and addresses of judges are read from it (see --help)`,
    );
  }
  return (found = new Variables(OWN_ENVIRONMENT, dotenvs));
}
