/** Adds files from wherever they come: a drop, the clipboard, the dialog, an example. */

import { batch, signal } from "@preact/signals";
import type { ReadFiles } from "../ui/read-files.js";
import { activateConfig, activeConfig } from "./active-config.js";
import { configText, DEFAULT_CONFIG } from "./config.js";
import {
  add,
  type Choices,
  choices,
  exampleName,
  isPristine,
  type NewFile,
  pathOf,
  remove,
  replaceAll,
  type Source,
  sources,
} from "./inputs.js";
import { judgeKind, type JudgeKind } from "./judge.js";

/** What became of the last files. */
export const message = signal("");

/** The JSON files of a folder that are no part of an evaluation, by their paths. */
export const leftOutFiles = signal<readonly string[]>([]);

/** The user's files as they were before an example, or nothing, took their place. */
interface Replaced {
  sources: readonly Source[];
  choices: Choices;
  config: string;
  activeConfig: number | undefined;
  judge: JudgeKind;
}

export const replaced = signal<Replaced | undefined>(undefined);

/** More names than these are a number. */
const MOST_NAMES = 3;

/** Adds files; those of an unchanged example give way to them. */
export async function addFiles(reader: Promise<ReadFiles>): Promise<void> {
  const { files, skipped } = await reader;
  const replacesAll = isPristine.value && files.length > 0;
  const all = await (replacesAll ? replaceAll(files) : add(files));
  // A folder of a project has JSON of many kinds.
  const others = all.filter(({ folder, info }) => folder !== "" && info?.kind === "unknown");
  for (const { id } of others) remove(id);
  leftOutFiles.value = others.map(pathOf);
  const added = all.filter((source) => !others.includes(source));
  applyConfigAndReplies(added, replacesAll);
  if (files.length > 0) replaced.value = undefined;
  const unreadable = added.filter(({ info }) => info?.problem !== undefined);
  message.value = [
    added.length === 1 ? `${listed(added)} was added.` : added.length > 1 ? `${added.length} files were added.` : "",
    unreadable.length > 0 ? `${listed(unreadable)} cannot be read; see below.` : "",
    others.length > 0
      ? `${others.length === 1 ? "One other JSON file is" : `${others.length} other JSON files are`} not part of an evaluation and ${others.length === 1 ? "was" : "were"} left out.`
      : "",
    skipped.length > 0 ? `Left out: ${skipped.join("; ")}.` : "",
  ]
    .filter((part) => part !== "")
    .join(" ");
}

function listed(files: readonly Source[]): string {
  if (files.length > MOST_NAMES) return `${files.length} files`;
  return files.map(({ name }) => name).join(", ");
}

/** Puts an example, or nothing, in the place of the user's files, which can be brought back. */
export async function replaceFiles(files: readonly NewFile[], title?: string): Promise<void> {
  const before: Replaced | undefined =
    sources.value.length === 0 || isPristine.value
      ? replaced.value
      : {
          sources: sources.value,
          choices: choices.value,
          config: configText.value,
          activeConfig: activeConfig.value,
          judge: judgeKind.value,
        };
  applyConfigAndReplies(await replaceAll(files), true);
  batch(() => {
    exampleName.value = title;
    isPristine.value = title !== undefined;
    replaced.value = before;
    leftOutFiles.value = [];
    message.value = "";
  });
}

/** Brings back the files that were replaced. */
export function restoreReplaced(): void {
  const before = replaced.value;
  if (before === undefined) return;
  batch(() => {
    sources.value = before.sources;
    choices.value = before.choices;
    exampleName.value = undefined;
    isPristine.value = false;
    activeConfig.value = before.activeConfig;
    configText.value = before.config;
    judgeKind.value = before.judge;
    replaced.value = undefined;
    message.value = "Your files are back.";
  });
}

/**
 * Activates the config and the recordings among new files.
 *
 * @param replacesAll Whether all other files were removed: without a config, google-adk's default criteria then apply.
 */
function applyConfigAndReplies(added: readonly Source[], replacesAll: boolean): void {
  const config = added.find(({ info }) => info?.kind === "config");
  if (config !== undefined) activateConfig(config);
  else if (replacesAll) {
    activeConfig.value = undefined;
    configText.value = DEFAULT_CONFIG;
  }
  if (added.some(({ info }) => info?.kind === "recording")) judgeKind.value = "recording";
  else if (replacesAll && judgeKind.value === "recording") judgeKind.value = "none";
}
