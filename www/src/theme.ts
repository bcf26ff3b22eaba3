/** The colour theme: the system's until the user chooses one, which is stored. */

import { effect, signal } from "@preact/signals";

export type Theme = "system" | "light" | "dark";

const STORAGE_KEY = "theme";

export const theme = signal<Theme>(storedTheme());

effect(() => {
  if (theme.value === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme.value;
  try {
    localStorage.setItem(STORAGE_KEY, theme.value);
  } catch {
    // Without storage, the choice lasts until the page is closed.
  }
});

function storedTheme(): Theme {
  try {
    const value = localStorage.getItem(STORAGE_KEY);
    return value === "light" || value === "dark" ? value : "system";
  } catch {
    return "system";
  }
}
