/** Where the user is: the part of the address after `#`, as path segments. */

import { computed, signal } from "@preact/signals";
import { isScreen, type Screen } from "./screens/table.js";

const hash = signal(location.hash);
markShown();
addEventListener("hashchange", followAddress);

export interface Route {
  screen: Screen;
  /** What follows the screen's name, such as the index of a case. */
  rest: readonly string[];
}

/** Where the user is; an address that names no screen leads to the first. */
export const route = computed<Route>(() => {
  const [name = "", ...rest] = hash.value.replace(/^#\/?/, "").split("/").map(decodeSegment);
  return isScreen(name) ? { screen: name, rest } : { screen: "files", rest: [] };
});

/** The address of a screen. */
export function hrefOf(screen: Screen, ...rest: (string | number)[]): string {
  return `#/${[screen, ...rest].map((part) => encodeURIComponent(part)).join("/")}`;
}

/** Goes to a screen. */
export function goTo(screen: Screen, ...rest: (string | number)[]): void {
  location.hash = hrefOf(screen, ...rest);
  // The event that tells of it comes later.
  followAddress();
}

/** Follows the address. A screen starts at its top; whoever goes back to one finds it as the browser restores it. */
function followAddress(): void {
  const { screen: before } = route.value;
  hash.value = location.hash;
  const isNew = markShown();
  const { screen } = route.value;
  if (isNew && (screen !== before || screen === "case")) scrollTo(0, 0);
}

/** Marks this entry of the browser's history as one that was shown; tells whether it was not. */
function markShown(): boolean {
  if (history.state !== null) return false;
  history.replaceState({ isShown: true }, "");
  return true;
}

function decodeSegment(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
