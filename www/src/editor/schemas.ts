/** The package's JSON Schemas, each loaded when it is first needed. */

import type { FileKind } from "../worker/protocol.js";
import type { Schema } from "./schema.js";

const LOADERS: Readonly<Partial<Record<FileKind, () => Promise<{ default: unknown }>>>> = {
  evalset: () => import("adk-metrics/schema/evalset.json"),
  results: () => import("adk-metrics/schema/results.json"),
  config: () => import("adk-metrics/schema/config.json"),
};

/** The schema of a kind of file; undefined if there is none. */
export async function schemaOf(kind: FileKind): Promise<Schema | undefined> {
  return (await LOADERS[kind]?.())?.default as Schema | undefined;
}
