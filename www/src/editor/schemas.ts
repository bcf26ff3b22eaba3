/** The package's schemas, each loaded when it is needed. */

import type { FileKind } from "../worker/protocol.js";
import type { Schema } from "./schema.js";

const FILES = import.meta.glob<Schema>("../../../pkg/schema/{evalset,results,config}.schema.json", {
  import: "default",
});

/** The schema of a kind of file; undefined where there is none. */
export async function schemaOf(kind: FileKind): Promise<Schema | undefined> {
  return FILES[`../../../pkg/schema/${kind}.schema.json`]?.();
}
