/** Where Vertex AI is and who asks it, by the variables and credentials that its users have. */

import { spawnSync } from "node:child_process";
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, dirname, isAbsolute, join } from "node:path";
import type { VertexOptions } from "../types.js";
import { GCLOUD, OWN_ENVIRONMENT, type Variables } from "./environment.js";
import { Mistake } from "./mistakes.js";
import { definedProperties } from "../lists.js";

/** Terraform's variable for a token, and gcloud's. */
const TOKENS = ["GOOGLE_OAUTH_ACCESS_TOKEN", "CLOUDSDK_AUTH_ACCESS_TOKEN"] as const;

const ADDRESS = "GOOGLE_VERTEX_BASE_URL";

/** Tokens of gcloud are valid for some minutes at least when it prints them. */
const TOKEN_LIFE_MS = 180_000;
const GCLOUD_TIMEOUT_MS = 30_000;

/**
 * Reads where Vertex AI is: a project with a token, which `gcloud` is asked for unless a variable holds one; else an API
 * key. A project wins over a key, as in Google's own clients.
 *
 * @throws {Mistake} that names what is missing.
 */
export function vertexFromEnvironment(variables: Variables): VertexOptions {
  const read = (name: string): string | undefined => variables.environment[name]?.trim() || undefined;
  const [project, location] = [read("GOOGLE_CLOUD_PROJECT"), read("GOOGLE_CLOUD_LOCATION")];
  const [apiKey, baseUrl] = [read("GOOGLE_API_KEY"), read(ADDRESS)];
  const address = baseUrl === undefined ? {} : { baseUrl };
  const express = (key: string): VertexOptions => {
    variables.checkAddress(ADDRESS, "GOOGLE_API_KEY");
    return { ...address, apiKey: key };
  };
  if (project === undefined) {
    if (apiKey !== undefined) return express(apiKey);
    throw new Mistake("Vertex AI needs GOOGLE_CLOUD_PROJECT, or GOOGLE_API_KEY in express mode", { help: SETUP });
  }
  const endpoint = { ...address, project, ...definedProperties({ location }) };
  const name = TOKENS.find((token) => read(token) !== undefined);
  if (name !== undefined) {
    variables.checkAddress(ADDRESS, name);
    return { ...endpoint, accessToken: read(name) as string };
  }
  const gcloud = new Gcloud();
  try {
    gcloud.token();
  } catch (mistake) {
    if (apiKey !== undefined) return express(apiKey);
    throw mistake;
  }
  variables.checkAddress(ADDRESS, GCLOUD);
  return { ...endpoint, accessToken: () => gcloud.token() };
}

const SETUP = `Set it, GOOGLE_CLOUD_LOCATION and ${TOKENS[0]}, in the environment or in a .env file; without a token, \`gcloud\` is asked for one`;

/**
 * `gcloud`, if it is there: application-default credentials first, as Google's own clients use them. It is looked for in
 * the absolute folders of PATH only, never in the working directory, and gets the process's own environment.
 */
class Gcloud {
  readonly #program = programOnPath("gcloud");
  #last: { token: string; at: number } | undefined;

  /** @throws {Mistake} if there is none. */
  token(): string {
    if (this.#last !== undefined && performance.now() - this.#last.at < TOKEN_LIFE_MS) return this.#last.token;
    const token = this.#print(["application-default"]) ?? this.#print([]);
    if (token === undefined) {
      throw new Mistake(`Vertex AI needs a token: ${TOKENS.join(" or ")} is not set, and \`gcloud\` gave none`, {
        help: "Log in with gcloud auth application-default login",
      });
    }
    this.#last = { token, at: performance.now() };
    return token;
  }

  #print(group: readonly string[]): string | undefined {
    if (this.#program === undefined) return undefined;
    const isScript = process.platform === "win32";
    const { status, stdout } = spawnSync(
      isScript ? `"${this.#program}"` : this.#program,
      ["auth", ...group, "print-access-token"],
      {
        encoding: "utf8",
        // The programs that gcloud.cmd calls by name alone are not looked for in the working directory either.
        ...(isScript ? { cwd: dirname(this.#program), shell: true } : {}),
        env: isScript ? { ...OWN_ENVIRONMENT, NoDefaultCurrentDirectoryInExePath: "1" } : OWN_ENVIRONMENT,
        stdio: ["ignore", "pipe", "ignore"],
        timeout: GCLOUD_TIMEOUT_MS,
      },
    );
    const token = status === 0 ? stdout.trim() : "";
    return token === "" ? undefined : token;
  }
}

/** The file of a program in the absolute folders of PATH, never in the working directory. */
export function programOnPath(name: string): string | undefined {
  const isWindows = process.platform === "win32";
  const endings = isWindows ? [".cmd", ".exe", ".bat"] : [""];
  const path = Object.entries(OWN_ENVIRONMENT).find(([key]) => (isWindows ? key.toUpperCase() : key) === "PATH")?.[1];
  const folders = (path ?? "").split(delimiter).filter((folder) => isAbsolute(folder) && !folder.includes('"'));
  return folders.flatMap((folder) => endings.map((ending) => join(folder, name + ending))).find(isProgram);
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
