/** What an evalset of a run is called: by its file, with the folder where others have the same name. */

import type { SetSummary } from "../worker/protocol.js";

type Named = Pick<SetSummary, "name" | "path">;

export function labelOf({ name, path }: Named, all: readonly Named[]): string {
  const isAlone = all.filter((other) => other.name === name).length < 2;
  return isAlone ? name : (path ?? name);
}

const UUID = /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/i;

/** The id of an evalset, or the name of its file where the id is a UUID, as adk web makes them. */
export function titleOf({ evalSetId, name }: { evalSetId: string; name?: string }): string {
  return name !== undefined && UUID.test(evalSetId) && !name.includes(evalSetId) ? name : evalSetId;
}
