/** Files as browsers hand them over: chosen, dropped, or pasted. */

import type { Given } from "../state/inputs.js";

/** The largest file that the engine reads. */
const LARGEST = 256 * 1024 * 1024;

/** What came of reading: the files, and the names of those that were left out, with the reason. */
export interface Taken {
  files: Given[];
  leftOut: string[];
}

/** Reads chosen files; of folders what looks like JSON. */
export async function takeFiles(chosen: Iterable<File>): Promise<Taken> {
  const found = [...chosen].map((file) => ({ file, folder: folderOf(file.webkitRelativePath) }));
  return read(found);
}

/** Reads what was dropped, folders and all. Has to be called while the event is handled. */
export async function takeDropped(data: DataTransfer): Promise<Taken> {
  const entries = [...data.items].flatMap((item) => (item.kind === "file" ? (item.webkitGetAsEntry() ?? []) : []));
  if (entries.length === 0) {
    const text = data.getData("text/plain");
    return data.files.length > 0 ? takeFiles(data.files) : { files: takeText(text), leftOut: [] };
  }
  const found: { file: File; folder: string }[] = [];
  for (const entry of entries) await collect(entry, "", found);
  return read(found);
}

let pasted = 0;

/** A file of text that was pasted; none if it is empty. */
export function takeText(text: string): Given[] {
  if (text.trim() === "") return [];
  pasted += 1;
  const isRecording = text.slice(0, 200).includes('"adk-metrics recording"');
  return [{ name: `pasted-${pasted}.${isRecording ? "jsonl" : "json"}`, bytes: new TextEncoder().encode(text) }];
}

async function collect(entry: FileSystemEntry, folder: string, found: { file: File; folder: string }[]): Promise<void> {
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject));
    found.push({ file, folder });
    return;
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  for (;;) {
    // A directory is given in parts.
    const part = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (part.length === 0) return;
    for (const inside of part) await collect(inside, folder === "" ? entry.name : `${folder}/${entry.name}`, found);
  }
}

async function read(found: readonly { file: File; folder: string }[]): Promise<Taken> {
  const taken: Taken = { files: [], leftOut: [] };
  for (const { file, folder } of found) {
    const isJson = /\.(json|jsonl|ndjson|jsonc)$/i.test(file.name);
    // A single file is taken whatever its name; a folder may hold anything.
    if (!isJson && folder !== "") continue;
    if (file.size > LARGEST) {
      taken.leftOut.push(`${file.name} has more than 256 MiB`);
      continue;
    }
    try {
      taken.files.push({ name: file.name, folder, bytes: new Uint8Array(await file.arrayBuffer()) });
    } catch {
      taken.leftOut.push(`${file.name} cannot be read; it may have been moved`);
    }
  }
  if (taken.files.length === 0 && taken.leftOut.length === 0 && found.length > 0) {
    taken.leftOut.push("there is no .json or .jsonl file in it");
  }
  return taken;
}

function folderOf(path: string): string {
  return path.split("/").slice(0, -1).join("/");
}
