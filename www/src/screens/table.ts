/** The table of screens, from which the navigation, the titles and the lazy loading are derived. */

import type { ComponentType } from "preact";

/** A screen. */
export interface ScreenEntry {
  /** Its title in the navigation and in the browser's tab. */
  readonly title: string;
  /** The step in the navigation that it belongs to; absent for screens that are steps. */
  readonly stepOf?: string;
  /** Imports its module. Absent for screens in the main bundle (`app.tsx`). */
  readonly load?: () => Promise<{ default: ComponentType }>;
}

/** The screens by the first segment of their routes, in the order of the navigation. */
export const SCREENS = {
  files: { title: "Files" },
  draft: { title: "New evalset", stepOf: "files", load: () => import("./draft/draft.js") },
  criteria: { title: "Criteria", load: () => import("./criteria/criteria.js") },
  run: { title: "Run", load: () => import("./run/run.js") },
  results: { title: "Results" },
  case: { title: "Case", stepOf: "results", load: () => import("./case/case.js") },
  labels: { title: "Labels", stepOf: "results", load: () => import("./labels/labels.js") },
  edit: { title: "Edit", stepOf: "results", load: () => import("./edit/edit.js") },
  runs: { title: "Runs side by side", stepOf: "compare", load: () => import("./runs/runs.js") },
  compare: { title: "Compare", load: () => import("./compare/compare.js") },
} satisfies Readonly<Record<string, ScreenEntry>>;

export type Screen = keyof typeof SCREENS;

/** The screens in the main bundle. */
export type EagerScreen = { [S in Screen]: (typeof SCREENS)[S] extends { load: unknown } ? never : S }[Screen];

/** The entries of {@link SCREENS}. */
export const SCREEN_ENTRIES = Object.entries(SCREENS) as [Screen, ScreenEntry][];

/** Whether there is a screen of this name. */
export function isScreen(name: string): name is Screen {
  return Object.hasOwn(SCREENS, name);
}
