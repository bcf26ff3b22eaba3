/** What an evalset of a run is called: by its file, with the folder where others have the same name. */

import type { SetSummary } from "../worker/protocol.js";

type Named = Pick<SetSummary, "name" | "path">;

export function labelOf({ name, path }: Named, all: readonly Named[]): string {
  const isAlone = all.filter((other) => other.name === name).length < 2;
  return isAlone ? name : (path ?? name);
}
