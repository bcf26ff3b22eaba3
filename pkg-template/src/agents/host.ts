/** What only some runtimes can do for agents: read files, find the library that an agent comes from. */

import { AdkMetricsError } from "../errors.js";

/** What an entry for Node provides. */
export interface AgentHost {
  /** The text of a file; nothing if there is no such file. Rejects if it cannot be read. */
  readText(file: string): Promise<string | undefined>;
  writeText(file: string, text: string): Promise<void>;
  kindOf(path: string): Promise<"file" | "folder" | undefined>;
  /** The files under a folder whose names end in `ending`, sorted. */
  filesUnder(folder: string, ending: string): Promise<string[]>;
  /** The path of a file beside another. */
  beside(file: string, name: string): string;
  /** The path of a `file:` URL; nothing for any other text. */
  pathOf(url: object): string | undefined;
  workingFolder(): string;
  /** The copies of a package that can be found: beside this package, beside the program, in the working directory. */
  copiesOf(packageName: string): AsyncIterable<object>;
}

let provided: AgentHost | undefined;

/** Says what the runtime can do; the entries for Node do this once. */
export function provideAgentHost(host: AgentHost): void {
  provided ??= host;
}

/**
 * What the runtime can do.
 *
 * @param what What cannot be done without it.
 * @throws {AdkMetricsError} `engine_unavailable` in runtimes without files.
 */
export function agentHost(what: string, help: string): AgentHost {
  if (provided !== undefined) return provided;
  throw new AdkMetricsError("engine_unavailable", `${what} needs Node's files, and this build has none`, { help });
}
