/** Light or dark: as the system has it until the user chooses; the choice is remembered. */

import { effect, signal } from "@preact/signals";

export type Theme = "system" | "light" | "dark";

const KEY = "theme";

export const theme = signal<Theme>(remembered());

effect(() => {
  if (theme.value === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme.value;
  try {
    localStorage.setItem(KEY, theme.value);
  } catch {
    // Without storage the choice holds until the page is left.
  }
});

function remembered(): Theme {
  try {
    const value = localStorage.getItem(KEY);
    return value === "light" || value === "dark" ? value : "system";
  } catch {
    return "system";
  }
}
