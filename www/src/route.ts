/** Where the user is: the part of the address after `#`, as path segments. */

import { computed, signal } from "@preact/signals";

const hash = signal(location.hash);
addEventListener("hashchange", () => {
  hash.value = location.hash;
});

/** The screens, in the order in which they are walked through. */
export const SCREENS = ["files", "criteria", "run", "results", "compare"] as const;

export type Screen = (typeof SCREENS)[number] | "case" | "edit";

export interface Route {
  screen: Screen;
  /** What follows the screen's name, such as the index of a case. */
  rest: readonly string[];
}

/** Where the user is; an address that names no screen leads to the first. */
export const route = computed<Route>(() => {
  const [name = "", ...rest] = hash.value.replace(/^#\/?/, "").split("/").map(decoded);
  const known: readonly string[] = [...SCREENS, "case", "edit"];
  return known.includes(name) ? { screen: name as Screen, rest } : { screen: "files", rest: [] };
});

/** The address of a screen. */
export function hrefOf(screen: Screen, ...rest: (string | number)[]): string {
  return `#/${[screen, ...rest].map((part) => encodeURIComponent(part)).join("/")}`;
}

/** Goes to a screen. */
export function goTo(screen: Screen, ...rest: (string | number)[]): void {
  location.hash = hrefOf(screen, ...rest);
  // The event that tells of it comes later.
  hash.value = location.hash;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
