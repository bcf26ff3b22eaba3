import type { ComponentType } from "preact";
import { lazy, Suspense } from "preact/compat";
import { useEffect } from "preact/hooks";
import { hrefOf, route, type Screen, SCREENS } from "./route.js";
import { type Theme, theme } from "./theme.js";

const NAMES: Readonly<Record<(typeof SCREENS)[number], string>> = {
  files: "Files",
  criteria: "Criteria",
  run: "Run",
  results: "Results",
  compare: "Compare",
};

/** What the tab of the browser says. */
const TITLES: Readonly<Record<Screen, string>> = { ...NAMES, case: "Case", edit: "Edit" };

/** Each screen is loaded when it is first shown. */
const PAGES: Readonly<Record<Screen, ComponentType>> = {
  files: lazy(() => import("./screens/files/files.js")),
  criteria: lazy(() => import("./screens/criteria/criteria.js")),
  run: lazy(() => import("./screens/run/run.js")),
  results: lazy(() => import("./screens/results/results.js")),
  case: lazy(() => import("./screens/case/case.js")),
  edit: lazy(() => import("./screens/edit/edit.js")),
  compare: lazy(() => import("./screens/compare/compare.js")),
};

/** The way back to the step that a screen belongs to. */
const STEP_OF: Readonly<Partial<Record<Screen, Screen>>> = { case: "results", edit: "results" };

export function App() {
  const { screen } = route.value;
  const Page = PAGES[screen];
  const step = STEP_OF[screen] ?? screen;
  const title = TITLES[screen];
  useEffect(() => {
    document.title = `${title} – adk-metrics`;
  }, [title]);
  return (
    <>
      <header class="bar">
        <a class="name" href={hrefOf("files")}>
          adk-metrics
        </a>
        <nav aria-label="Steps">
          <ol>
            {SCREENS.map((name) => (
              <li key={name}>
                <a href={hrefOf(name)} {...(name === step ? { "aria-current": "page" as const } : {})}>
                  {NAMES[name]}
                </a>
              </li>
            ))}
          </ol>
        </nav>
        <ThemeChoice />
      </header>
      <main class="page">
        <Suspense fallback={<p class="muted">Loading…</p>}>
          <Page key={screen} />
        </Suspense>
      </main>
    </>
  );
}

function ThemeChoice() {
  return (
    <label class="end">
      <span class="visually-hidden">Colours</span>
      <select
        class="field"
        value={theme.value}
        onChange={({ currentTarget }) => {
          theme.value = currentTarget.value as Theme;
        }}
      >
        <option value="system">System colours</option>
        <option value="light">Light</option>
        <option value="dark">Dark</option>
      </select>
    </label>
  );
}
