/** The current route: the fragment of the URL as path segments. */

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

/** What the fragment of a link that holds a run begins with; the run stays in the address, so that a reload opens it again. */
export const LINK_PREFIX = "#run=";

/** The current route; an unknown screen is replaced by the first one. */
export const route = computed<Route>(() => {
  if (hash.value.startsWith(LINK_PREFIX)) return { screen: "results", rest: [] };
  const [name = "", ...rest] = beforeQuery(hash.value.replace(/^#\/?/, "")).split("/").map(decodeSegment);
  return isScreen(name) ? { screen: name, rest } : { screen: "files", rest: [] };
});

/** The URL of a screen. */
export function hrefOf(screen: Screen, ...rest: (string | number)[]): string {
  return `#/${[screen, ...rest].map((part) => encodeURIComponent(part)).join("/")}`;
}

/** What follows `?` in the address. */
export function addressText(): string {
  return location.hash.split("?").slice(1).join("?");
}

/** Navigates to a screen. */
export function goTo(screen: Screen, ...rest: (string | number)[]): void {
  location.hash = hrefOf(screen, ...rest);
  // `hashchange` is dispatched later.
  followAddress();
}

/** Updates the route from the URL. A new screen starts at its top; going back leaves scrolling to the browser. */
function followAddress(): void {
  const { screen: before } = route.value;
  hash.value = location.hash;
  const isNew = markShown();
  const { screen } = route.value;
  if (isNew && (screen !== before || screen === "case")) scrollTo(0, 0);
}

/** Marks the current history entry as shown; returns whether it is new. */
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

/** An address without its query. */
export function beforeQuery(address: string): string {
  return address.split("?", 1)[0] ?? "";
}
