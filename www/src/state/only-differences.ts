/**
 * Whether a case shows only what differs in texts and calls. The browser remembers it, and the address of a case has it,
 * so that a link shows the same.
 */

import { effect, signal } from "@preact/signals";
import { addressText, beforeQuery, type Route, route } from "../route.js";

const STORAGE_KEY = "only-differences";
const IN_ADDRESS = "only=differences";

export const onlyDifferences = signal(isInAddress() || isStored());

effect(() => {
  try {
    localStorage.setItem(STORAGE_KEY, onlyDifferences.value ? "yes" : "no");
  } catch {
    // Without storage, the choice lasts until the page is closed.
  }
});

/** The route that the address was last written for. */
let routeBefore: Route | undefined;

effect(() => {
  const isOtherRoute = route.value !== routeBefore;
  routeBefore = route.value;
  if (route.value.screen !== "case") return;
  // A link that is pasted, or going back.
  if (isOtherRoute && isInAddress()) onlyDifferences.value = true;
  const text = onlyDifferences.value ? IN_ADDRESS : "";
  if (text === addressText()) return;
  const place = beforeQuery(location.hash);
  history.replaceState(history.state, "", text === "" ? place : `${place}?${text}`);
});

function isInAddress(): boolean {
  return route.value.screen === "case" && addressText() === IN_ADDRESS;
}

function isStored(): boolean {
  try {
    return localStorage.getItem(STORAGE_KEY) === "yes";
  } catch {
    return false;
  }
}
