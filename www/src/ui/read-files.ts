/** Reads files that were chosen, dropped or pasted. */

import { MAX_BYTES } from "virtual:manifest";
import type { NewFile } from "../state/inputs.js";

/** Folders whose files are not the project's own. What ADK keeps is in `.adk`. */
const IGNORED = /^(?:node_modules|\.git|\.venv|venv|__pycache__|\.next|\.nuxt|\.svelte-kit|\.turbo|\.cache|target)$/;

/** The files that were read, and messages about those that were skipped. */
export interface ReadFiles {
  files: NewFile[];
  skipped: string[];
}

/** Reads chosen files; in folders, only those that look like JSON. */
export async function readFiles(chosen: Iterable<File>): Promise<ReadFiles> {
  const found = [...chosen].map((file) => ({ file, folder: folderOf(file.webkitRelativePath) }));
  return readAll(found.filter(({ folder }) => !folder.split("/").some((name) => IGNORED.test(name))));
}

/** Reads dropped files, folders included. Has to be called synchronously in the event handler. */
export async function readDropped(data: DataTransfer): Promise<ReadFiles> {
  const entries = [...data.items].flatMap((item) => (item.kind === "file" ? (item.webkitGetAsEntry() ?? []) : []));
  if (entries.length === 0) {
    const text = data.getData("text/plain");
    return data.files.length > 0 ? readFiles(data.files) : { files: fileFromText(text), skipped: [] };
  }
  const found: Found = { files: [], skipped: [] };
  for (const entry of entries) await collect(entry, "", found);
  const { files, skipped } = await readAll(found.files, found.skipped.length === 0);
  return { files, skipped: [...found.skipped, ...skipped] };
}

/** What is in a folder that was dropped, and messages about what cannot be looked at. */
interface Found {
  files: { file: File; folder: string }[];
  skipped: string[];
}

let lastPasted = 0;

/** Pasted text as a file; empty text gives none. */
export function fileFromText(text: string): NewFile[] {
  if (text.trim() === "") return [];
  lastPasted += 1;
  const isRecording = text.slice(0, 200).includes('"adk-metrics recording"');
  return [{ name: `pasted-${lastPasted}.${isRecording ? "jsonl" : "json"}`, bytes: new TextEncoder().encode(text) }];
}

async function collect(entry: FileSystemEntry, folder: string, found: Found): Promise<void> {
  try {
    await collectInto(entry, folder, found);
  } catch {
    // A link to nothing, or what the user may not read.
    found.skipped.push(`${entry.name} cannot be read`);
  }
}

async function collectInto(entry: FileSystemEntry, folder: string, found: Found): Promise<void> {
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject));
    found.files.push({ file, folder });
    return;
  }
  if (IGNORED.test(entry.name)) return;
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  for (;;) {
    // `readEntries` returns a directory in batches.
    const part = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (part.length === 0) return;
    for (const inside of part) await collect(inside, folder === "" ? entry.name : `${folder}/${entry.name}`, found);
  }
}

async function readAll(found: Found["files"], saysNothing = true): Promise<ReadFiles> {
  const result: ReadFiles = { files: [], skipped: [] };
  for (const { file, folder } of found) {
    const isJson = /\.(json|jsonl|ndjson|jsonc)$/i.test(file.name);
    // A single file is read whatever its name; a folder may contain anything.
    if (!isJson && folder !== "") continue;
    if (file.size > MAX_BYTES) {
      result.skipped.push(`${file.name} has more than ${MAX_BYTES / 2 ** 20} MiB: use npx adk-metrics eval`);
      continue;
    }
    try {
      result.files.push({ name: file.name, folder, bytes: new Uint8Array(await file.arrayBuffer()) });
    } catch {
      result.skipped.push(`${file.name} cannot be read; it may have been moved`);
    }
  }
  if (saysNothing && result.files.length === 0 && result.skipped.length === 0 && found.length > 0) {
    result.skipped.push("there is no .json or .jsonl file in it");
  }
  return result;
}

function folderOf(path: string): string {
  return path.split("/").slice(0, -1).join("/");
}
