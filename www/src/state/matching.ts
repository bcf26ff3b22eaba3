/** Pairs files by the evalset's id, by file names, by their eval ids, and by the user's choices. */

import type { FileInfo } from "../worker/protocol.js";

/** The role of a file in a run. */
export type Role = "expected" | "actual" | "config" | "recording" | "none";

/** The properties of a file that matter for matching. */
export interface Matchable {
  id: number;
  name: string;
  /** The folder that it was dropped with; empty for single files. */
  folder: string;
  /** Absent while the file is being inspected. */
  info?: FileInfo;
}

/** The user's choices, which override the automatic matching. */
export interface Choices {
  roles: Readonly<Record<number, Role>>;
  /** The file with the actual runs of an evalset; null for none. */
  actualOf: Readonly<Record<number, number | null>>;
}

/** An evalset and its actual runs. Results need no evalset (`own`): they contain what was expected too. */
export interface Match {
  expected: number | "own";
  actual: number | undefined;
}

export interface Matched {
  pairs: Match[];
  configs: number[];
  recordings: number[];
  /** Files without a use. */
  rest: number[];
}

/** The possible roles of a file, the default first. */
export function rolesOf({ info, name }: Matchable): readonly Role[] {
  switch (info?.kind) {
    case "evalset":
      return hasRepeatedRuns(info, name) ? ["actual", "expected", "none"] : ["expected", "actual", "none"];
    case "results":
    case "inferences":
    case "session":
    case "traces":
      return ["actual", "none"];
    case "config":
      return ["config", "none"];
    case "recording":
      return ["recording", "none"];
    default:
      return ["none", "expected", "actual", "config", "recording"];
  }
}

/** Whether cases with one id are several runs of it: no evalset has an id twice. A file that is called one has a mistake instead. */
export function hasRepeatedRuns({ evalIds }: Pick<FileInfo, "evalIds">, name: string): boolean {
  return new Set(evalIds).size < evalIds.length && !/\.(evalset|test)\.json$/i.test(name);
}

/** Pairs files. O(evalsets × others). */
export function matchFiles(files: readonly Matchable[], choices: Choices): Matched {
  const roles = new Map(files.map((file) => [file.id, roleOf(file, files, choices)]));
  const withRole = (role: Role) => files.filter(({ id }) => roles.get(id) === role);
  const expected = withRole("expected");
  const actual = withRole("actual");
  const usedIds = new Set<number>();
  const pairs: Match[] = expected.map(({ id }) => ({ expected: id, actual: undefined }));
  for (const pair of pairs) {
    const chosen = choices.actualOf[pair.expected as number];
    if (chosen === undefined || chosen === null || roles.get(chosen) !== "actual") continue;
    pair.actual = chosen;
    usedIds.add(chosen);
  }
  const unpaired = () =>
    pairs.filter((pair) => pair.actual === undefined && choices.actualOf[pair.expected as number] !== null);
  const byId = new Map(files.map((file) => [file.id, file]));
  const candidates = unpaired()
    .flatMap((pair) =>
      actual.map((file) => ({ pair, file, score: similarity(byId.get(pair.expected as number) as Matchable, file) })),
    )
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || (b.file.info?.madeAt ?? 0) - (a.file.info?.madeAt ?? 0));
  for (const { pair, file } of candidates) {
    if (pair.actual !== undefined || usedIds.has(file.id)) continue;
    pair.actual = file.id;
    usedIds.add(file.id);
  }
  const unused = actual.filter(({ id }) => !usedIds.has(id));
  const [onlyPair, ...others] = unpaired();
  const [onlyActual, ...more] = unused;
  if (onlyPair !== undefined && others.length === 0 && onlyActual !== undefined && more.length === 0) {
    onlyPair.actual = onlyActual.id;
    usedIds.add(onlyActual.id);
  }
  const paired = new Set(usedIds);
  for (const { id, info } of actual) {
    // Of an eval history only the newest results count, or those that the user chose, unless the user says otherwise.
    const isReplaced = (other: Matchable) =>
      isOfSameSet(other.info, info) && (paired.has(other.id) || isNewer(other.info, info));
    const isOld = choices.roles[id] === undefined && actual.some(isReplaced);
    if (!usedIds.has(id) && info?.kind === "results" && !isOld) {
      pairs.push({ expected: "own", actual: id });
      usedIds.add(id);
    }
  }
  return {
    pairs,
    configs: withRole("config").map(({ id }) => id),
    recordings: withRole("recording").map(({ id }) => id),
    rest: files
      .filter(({ id }) => roles.get(id) === "none" || (roles.get(id) === "actual" && !usedIds.has(id)))
      .map(({ id }) => id),
  };
}

function isOfSameSet(one: FileInfo | undefined, other: FileInfo | undefined): boolean {
  return one?.evalSetId !== undefined && one.evalSetId === other?.evalSetId;
}

function isNewer(one: FileInfo | undefined, other: FileInfo | undefined): boolean {
  return (one?.madeAt ?? 0) > (other?.madeAt ?? Number.POSITIVE_INFINITY);
}

/** The role of a file: the one that the user chose, or the most likely one. */
export function roleOf(file: Matchable, files: readonly Matchable[], { roles }: Choices): Role {
  return roles[file.id] ?? likelyRole(file, files);
}

/** The most likely role of a file. An evalset contains actual runs if its name says so, or if another is expected. */
function likelyRole(file: Matchable, files: readonly Matchable[]): Role {
  const [role = "none"] = rolesOf(file);
  if (role !== "expected") return role;
  if (/\.actual\.json$/i.test(file.name)) return "actual";
  if (/\.(evalset|test)\.json$/i.test(file.name)) return "expected";
  const expectedFile = files.find(
    (other) =>
      other.id !== file.id &&
      other.info?.kind === "evalset" &&
      (/\.(evalset|test)\.json$/i.test(other.name) || other.id < file.id) &&
      !/\.actual\.json$/i.test(other.name) &&
      similarity(other, file) > 0,
  );
  return expectedFile === undefined ? "expected" : "actual";
}

/** How likely a file has the actual runs of an evalset; 0 if nothing suggests it. */
function similarity(expected: Matchable, actual: Matchable): number {
  const [a, b] = [expected.info, actual.info];
  const sameName = nameWithoutSuffix(expected.name) === nameWithoutSuffix(actual.name);
  const sameSet = isOfSameSet(a, b);
  const known = new Set(a?.evalIds);
  const common = b?.evalIds.filter((id) => known.has(id)).length ?? 0;
  const share = known.size === 0 ? 0 : common / Math.max(known.size, b?.evalIds.length ?? 0);
  if (!sameName && !sameSet && common === 0) return 0;
  return 4 * Number(sameName) + 4 * Number(sameSet) + 3 * share + Number(expected.folder === actual.folder);
}

/** A lower-case file name without the suffixes that denote its kind. */
function nameWithoutSuffix(name: string): string {
  return name
    .toLowerCase()
    .replace(/\.json$/, "")
    .replace(/[._-](evalset|test|actual|evalset_result|inferences|session|expected|runs?)$/, "");
}
