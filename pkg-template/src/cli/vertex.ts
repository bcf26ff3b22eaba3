/** Where Vertex AI is and who asks it, by the variables and credentials that its users have. */

import { spawnSync } from "node:child_process";
import type { Environment } from "../judges/environment.js";
import type { VertexOptions } from "../types.js";
import { Mistake } from "./mistakes.js";

/** Terraform's variable for a token, and gcloud's. */
const TOKENS = ["GOOGLE_OAUTH_ACCESS_TOKEN", "CLOUDSDK_AUTH_ACCESS_TOKEN"] as const;

/** Tokens of gcloud are valid for some minutes at least when it prints them. */
const TOKEN_LIFE_MS = 180_000;
const GCLOUD_TIMEOUT_MS = 30_000;

/**
 * Reads where Vertex AI is: a project with a token, which `gcloud` is asked for unless a variable holds one; else an API
 * key. A project wins over a key, as in Google's own clients.
 *
 * @throws {Mistake} that names what is missing.
 */
export function vertexFromEnvironment(environment: Environment): VertexOptions {
  const read = (...names: string[]): string | undefined =>
    names.map((name) => environment[name]?.trim()).find((value) => value !== undefined && value !== "");
  const [project, location] = [read("GOOGLE_CLOUD_PROJECT"), read("GOOGLE_CLOUD_LOCATION")];
  const [apiKey, baseUrl] = [read("GOOGLE_API_KEY"), read("GOOGLE_VERTEX_BASE_URL")];
  const address = baseUrl === undefined ? {} : { baseUrl };
  if (project === undefined) {
    if (apiKey !== undefined) return { ...address, apiKey };
    throw new Mistake("Vertex AI needs GOOGLE_CLOUD_PROJECT, or GOOGLE_API_KEY in express mode", { help: SETUP });
  }
  const place = { ...address, project, ...(location === undefined ? {} : { location }) };
  const token = read(...TOKENS);
  if (token !== undefined) return { ...place, accessToken: token };
  const gcloud = new Gcloud(environment);
  try {
    gcloud.token();
  } catch (mistake) {
    if (apiKey !== undefined) return { ...address, apiKey };
    throw mistake;
  }
  return { ...place, accessToken: () => gcloud.token() };
}

const SETUP = `Set it, GOOGLE_CLOUD_LOCATION and ${TOKENS[0]}, in the environment or in a file .env; without a token \`gcloud\` is asked for one`;

/** `gcloud`, if it is there: application-default credentials first, as Google's own clients use them. */
class Gcloud {
  readonly #environment: Environment;
  #last: { token: string; at: number } | undefined;

  constructor(environment: Environment) {
    this.#environment = environment;
  }

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
    const { status, stdout } = spawnSync("gcloud", ["auth", ...group, "print-access-token"], {
      encoding: "utf8",
      env: this.#environment,
      stdio: ["ignore", "pipe", "ignore"],
      timeout: GCLOUD_TIMEOUT_MS,
      // On Windows it is a script.
      shell: process.platform === "win32",
    });
    const token = status === 0 ? stdout.trim() : "";
    return token === "" ? undefined : token;
  }
}
