/** The screens: the steps of the page's navigation, their titles and where they are loaded from are made from this table. */

import type { ComponentType } from "preact";

/** A screen. */
export interface ScreenEntry {
  /** What the navigation and the tab of the browser call it. */
  readonly title: string;
  /** The step that it belongs to; absent for the steps themselves, which are in the navigation. */
  readonly stepOf?: string;
  /** Gives its module. Absent for what everyone sees, which comes with the page (`app.tsx`). */
  readonly load?: () => Promise<{ default: ComponentType }>;
}

/** By the first part of their addresses, in the order in which they are walked through. */
export const SCREENS = {
  files: { title: "Files" },
  criteria: { title: "Criteria", load: () => import("./criteria/criteria.js") },
  run: { title: "Run", load: () => import("./run/run.js") },
  results: { title: "Results" },
  case: { title: "Case", stepOf: "results", load: () => import("./case/case.js") },
  edit: { title: "Edit", stepOf: "results", load: () => import("./edit/edit.js") },
  compare: { title: "Compare", load: () => import("./compare/compare.js") },
} satisfies Readonly<Record<string, ScreenEntry>>;

export type Screen = keyof typeof SCREENS;

/** The screens that come with the page. */
export type EagerScreen = { [S in Screen]: (typeof SCREENS)[S] extends { load: unknown } ? never : S }[Screen];

/** All of them, each by its name. */
export const SCREEN_ENTRIES = Object.entries(SCREENS) as [Screen, ScreenEntry][];

/** Whether there is a screen of this name. */
export function isScreen(name: string): name is Screen {
  return Object.hasOwn(SCREENS, name);
}
