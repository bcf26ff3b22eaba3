/** Which files belong together: by the evalset's id, by names, by the cases they name, and by the user's word. */

import type { FileFacts } from "../worker/protocol.js";

/** What a file is for. */
export type Role = "expected" | "actual" | "config" | "recording" | "none";

/** What is looked at of a file. */
export interface Matchable {
  id: number;
  name: string;
  /** The folder it was dropped with; empty for single files. */
  folder: string;
  /** Absent while it is being looked at. */
  facts?: FileFacts;
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
export function rolesOf({ facts }: Matchable): readonly Role[] {
  switch (facts?.kind) {
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
export function matched(files: readonly Matchable[], choices: Choices): Matched {
  const roles = new Map(files.map((file) => [file.id, choices.roles[file.id] ?? likelyRole(file, files)]));
  const having = (role: Role) => files.filter(({ id }) => roles.get(id) === role);
  const expected = having("expected");
  const actual = having("actual");
  const taken = new Set<number>();
  const pairs: Match[] = expected.map(({ id }) => ({ expected: id, actual: undefined }));
  for (const pair of pairs) {
    const chosen = choices.actualOf[pair.expected as number];
    if (chosen === undefined || chosen === null || roles.get(chosen) !== "actual") continue;
    pair.actual = chosen;
    taken.add(chosen);
  }
  const open = () =>
    pairs.filter((pair) => pair.actual === undefined && choices.actualOf[pair.expected as number] !== null);
  const byId = new Map(files.map((file) => [file.id, file]));
  const likely = open()
    .flatMap((pair) =>
      actual.map((file) => ({ pair, file, score: likeness(byId.get(pair.expected as number) as Matchable, file) })),
    )
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score);
  for (const { pair, file } of likely) {
    if (pair.actual !== undefined || taken.has(file.id)) continue;
    pair.actual = file.id;
    taken.add(file.id);
  }
  const left = actual.filter(({ id }) => !taken.has(id));
  const [lonely, ...others] = open();
  const [single, ...more] = left;
  if (lonely !== undefined && others.length === 0 && single !== undefined && more.length === 0) {
    lonely.actual = single.id;
    taken.add(single.id);
  }
  for (const { id, facts } of actual) {
    if (!taken.has(id) && facts?.kind === "results") {
      pairs.push({ expected: "own", actual: id });
      taken.add(id);
    }
  }
  return {
    pairs,
    configs: having("config").map(({ id }) => id),
    recordings: having("recording").map(({ id }) => id),
    rest: files
      .filter(({ id }) => roles.get(id) === "none" || (roles.get(id) === "actual" && !taken.has(id)))
      .map(({ id }) => id),
  };
}

/** What a file is most likely for. An evalset is what was done if its name says so, or another is what was expected. */
function likelyRole(file: Matchable, files: readonly Matchable[]): Role {
  const [role = "none"] = rolesOf(file);
  if (role !== "expected") return role;
  if (/\.actual\.json$/i.test(file.name)) return "actual";
  if (/\.(evalset|test)\.json$/i.test(file.name)) return "expected";
  const rival = files.find(
    (other) =>
      other.id !== file.id &&
      other.facts?.kind === "evalset" &&
      (/\.(evalset|test)\.json$/i.test(other.name) || other.id < file.id) &&
      !/\.actual\.json$/i.test(other.name) &&
      likeness(other, file) > 0,
  );
  return rival === undefined ? "expected" : "actual";
}

/** How likely what was done belongs to an evalset. */
function likeness(expected: Matchable, actual: Matchable): number {
  const [a, b] = [expected.facts, actual.facts];
  const sameName = stem(expected.name) === stem(actual.name);
  const sameSet = a?.evalSetId !== undefined && a.evalSetId === b?.evalSetId;
  const known = new Set(a?.evalIds);
  const common = b?.evalIds.filter((id) => known.has(id)).length ?? 0;
  const share = known.size === 0 ? 0 : common / Math.max(known.size, b?.evalIds.length ?? 0);
  if (!sameName && !sameSet && common === 0) return 0;
  return 4 * Number(sameName) + 4 * Number(sameSet) + 3 * share + Number(expected.folder === actual.folder);
}

/** A name without what says what kind of file it is. */
function stem(name: string): string {
  return name
    .toLowerCase()
    .replace(/\.json$/, "")
    .replace(/[._-](evalset|test|actual|evalset_result|inferences|session|expected|runs?)$/, "");
}
