/**
 * Follows the files that `adk-metrics playground <files>` was given: opens them, and then what changes in them. They are only
 * read, from the server of the page itself.
 */

import { signal } from "@preact/signals";
import { goTo, route } from "../route.js";
import { addFiles, replaced, replaceFiles } from "./adding.js";
import { baseline } from "./compare.js";
import { type NewFile, pathOf, type Source, sources } from "./inputs.js";
import { openResultFiles } from "./opened.js";
import { runProgress, summary } from "./run.js";
import { restored } from "./saved.js";

/** What the fragment begins with that has the token, without which the server has no files. */
const PREFIX = "#follow=";
/** The tab keeps what it follows, so that a reload goes on. */
const STORED = "adk-metrics followed";
/** How often the files are looked at; a change counts when the next look finds no further one. */
const EVERY_MS = 1000;

/** What happened to the files that are followed, and the run that it made unless that is shown already. */
export const followedNote = signal<FollowedNote | undefined>(undefined);

interface FollowedNote {
  text: string;
  /** The run that new results made. */
  run?: string;
  /** The files as they are on disk, where the page has edits of its own. */
  onDisk?: readonly NewFile[];
}

/** Replaces edits by the files as they are on disk. */
export async function readAgain(files: readonly NewFile[]): Promise<void> {
  followedNote.value = undefined;
  await addFiles(Promise.resolve({ files: [...files], skipped: [] }));
}

/** A file that the server has. */
interface Listed {
  key: number;
  folder: string;
  name: string;
  /** Changes with the content. */
  stamp: string;
}

/** A file as it was when it was read. */
interface Known {
  stamp: string;
  digest: string;
}

let token = "";
/** How often it was begun: what was begun before ends. */
let begun = 0;
let known = new Map<string, Known>();

function begin(): void {
  if (location.hash.startsWith(PREFIX)) {
    token = location.hash.slice(PREFIX.length);
    known = new Map();
    // An address that is passed on, or shown to others, has no token.
    history.replaceState(history.state, "", location.pathname + location.search);
  } else if (token === "") {
    recall();
  } else return;
  begun += 1;
  if (token !== "") void follow(begun);
}

async function follow(mine: number): Promise<void> {
  await restored;
  if (sources.value.length === 0) known = new Map();
  let before = known.size === 0 ? undefined : "";
  for (let taken = ""; begun === mine; await new Promise((done) => setTimeout(done, EVERY_MS))) {
    const listed = await get("followed").then((response) => response?.json() as Promise<Listed[]> | undefined);
    if (begun !== mine) return;
    if (listed === undefined) {
      followedNote.value = { text: "The files are no longer followed: the command that served them has ended." };
      token = "";
      keep();
      return;
    }
    const now = JSON.stringify(listed);
    const isFirst = before === undefined;
    if (isFirst || (now === before && now !== taken)) {
      await take(listed, isFirst);
      taken = now;
    }
    before = now;
  }
}

/** Reads what is new, and opens the results in it. */
async function take(listed: readonly Listed[], isFirst: boolean): Promise<void> {
  const changed = listed.filter((file) => known.get(pathOf(file))?.stamp !== file.stamp);
  const files: (NewFile & { folder: string })[] = [];
  const edited: NewFile[] = [];
  const paths = new Set(listed.map(pathOf));
  const deleted = [...known.keys()].filter((path) => !paths.has(path));
  for (const path of deleted) known.delete(path);
  for (const { key, folder, name, stamp } of changed) {
    const response = await get(`followed/${key}`);
    // Gone since it was listed.
    if (response === undefined) continue;
    const bytes = new Uint8Array(await response.arrayBuffer());
    const path = pathOf({ folder, name });
    const [here, last] = [sourceAt(path), known.get(path)];
    if (
      !isFirst &&
      here !== undefined &&
      last !== undefined &&
      (await digestOf(here.bytes as BufferSource)) !== last.digest
    ) {
      edited.push({ name, folder, bytes });
    } else files.push({ name, folder, bytes });
    known.set(path, { stamp, digest: await digestOf(bytes) });
  }
  keep();
  if (isFirst) await replaceFiles([]);
  const own = replaced.value;
  await addFiles(Promise.resolve({ files, skipped: [] }));
  // The files of an earlier visit can be brought back.
  if (isFirst) replaced.value = own;
  const results = files
    .map((file) => sourceAt(pathOf(file)))
    .filter((source): source is Source => source?.info?.hasScores === true && source.info.problem === undefined);
  if (results.length > 0) await openNew(results, isFirst);
  else if (isFirst) goTo("files");
  const gone = deleted.filter((path) => sourceAt(path) !== undefined);
  if (gone.length > 0) {
    followedNote.value = {
      text: `${namesOf(gone)} ${gone.length === 1 ? "was" : "were"} deleted on disk. The page keeps what it has read.`,
    };
  }
  if (edited.length > 0) {
    followedNote.value = {
      text: `${namesOf(edited.map(({ name }) => name))} changed on disk, too. The page keeps your edits.`,
      onDisk: edited,
    };
  }
}

/** More names than these are a number. */
const MOST_NAMES = 5;

function namesOf(names: readonly string[]): string {
  return names.length > MOST_NAMES ? `${names.length} files` : names.join(", ");
}

/** Shows new results, unless the user is in the middle of something else. */
async function openNew(results: readonly Source[], isFirst: boolean): Promise<void> {
  const { screen } = route.value;
  const isShown = isFirst || ((screen === "results" || screen === "files") && runProgress.value === undefined);
  const before = summary.value?.id;
  const run = await openResultFiles(results, isShown);
  if (isFirst || run === undefined) return;
  const names = results.map(({ name }) => name).join(", ");
  if (isShown) baseline.value = before;
  followedNote.value = isShown
    ? { text: `New results were opened: ${names}.` }
    : { text: `New results: ${names}.`, run };
}

function sourceAt(path: string): Source | undefined {
  return sources.value.find((source) => pathOf(source) === path);
}

/** Undefined if the server has it not, or is gone. */
async function get(path: string): Promise<Response | undefined> {
  try {
    const response = await fetch(`./${path}`, { headers: { "x-adk-metrics-token": token }, cache: "no-store" });
    return response.ok ? response : undefined;
  } catch {
    return undefined;
  }
}

async function digestOf(bytes: BufferSource): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).join(" ");
}

// Without a storage, as in some private windows, a reload ends it.

function keep(): void {
  try {
    if (token === "") sessionStorage.removeItem(STORED);
    else sessionStorage.setItem(STORED, JSON.stringify([token, [...known]]));
  } catch {
    return;
  }
}

function recall(): void {
  try {
    const [kept, files] = JSON.parse(sessionStorage.getItem(STORED) ?? '["",[]]') as [string, [string, Known][]];
    [token, known] = [kept, new Map(files)];
  } catch {
    return;
  }
}

addEventListener("hashchange", begin);
begin();
