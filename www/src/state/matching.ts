/** Which files belong together: by the evalset's id, by names, by the cases they name, and by the user's word. */

import type { FileInfo } from "../worker/protocol.js";

/** What a file is for. */
export type Role = "expected" | "actual" | "config" | "recording" | "none";

/** What is looked at of a file. */
export interface Matchable {
  id: number;
  name: string;
  /** The folder it was dropped with; empty for single files. */
  folder: string;
  /** Absent while it is being looked at. */
  info?: FileInfo;
}

/** What the user decided otherwise. */
export interface Choices {
  roles: Readonly<Record<number, Role>>;
  /** What belongs to an evalset; null for nothing. */
  actualOf: Readonly<Record<number, number | null>>;
}

/** An evalset and what the agent did on it. Results may stand alone: they hold what was expected too. */
export interface Match {
  expected: number | "own";
  actual: number | undefined;
}

export interface Matched {
  pairs: Match[];
  configs: number[];
  recordings: number[];
  /** What belongs to nothing. */
  rest: number[];
}

/** The roles that a file may have, its own first. */
export function rolesOf({ info }: Matchable): readonly Role[] {
  switch (info?.kind) {
    case "evalset":
      return ["expected", "actual", "none"];
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

/** Matches files up. O(evalsets × others). */
export function matchFiles(files: readonly Matchable[], choices: Choices): Matched {
  const roles = new Map(files.map((file) => [file.id, choices.roles[file.id] ?? likelyRole(file, files)]));
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
    .sort((a, b) => b.score - a.score);
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
  for (const { id, info } of actual) {
    if (!usedIds.has(id) && info?.kind === "results") {
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

/** What a file is most likely for. An evalset is what was done if its name says so, or another is what was expected. */
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

/** How likely what was done belongs to an evalset. */
function similarity(expected: Matchable, actual: Matchable): number {
  const [a, b] = [expected.info, actual.info];
  const sameName = nameWithoutSuffix(expected.name) === nameWithoutSuffix(actual.name);
  const sameSet = a?.evalSetId !== undefined && a.evalSetId === b?.evalSetId;
  const known = new Set(a?.evalIds);
  const common = b?.evalIds.filter((id) => known.has(id)).length ?? 0;
  const share = known.size === 0 ? 0 : common / Math.max(known.size, b?.evalIds.length ?? 0);
  if (!sameName && !sameSet && common === 0) return 0;
  return 4 * Number(sameName) + 4 * Number(sameSet) + 3 * share + Number(expected.folder === actual.folder);
}

/** A name without what says what kind of file it is. */
function nameWithoutSuffix(name: string): string {
  return name
    .toLowerCase()
    .replace(/\.json$/, "")
    .replace(/[._-](evalset|test|actual|evalset_result|inferences|session|expected|runs?)$/, "");
}
