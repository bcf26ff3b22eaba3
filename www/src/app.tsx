import type { ComponentType } from "preact";
import { useEffect, useErrorBoundary } from "preact/hooks";
import { hrefOf, route, type Screen, SCREENS } from "./route.js";
import Files from "./screens/files/files.js";
import Results from "./screens/results/results.js";
import { type Theme, theme } from "./theme.js";
import { later } from "./ui/later.js";
import { Title } from "./ui/title.js";

const NAMES: Readonly<Record<(typeof SCREENS)[number], string>> = {
  files: "Files",
  criteria: "Criteria",
  run: "Run",
  results: "Results",
  compare: "Compare",
};

/** What the tab of the browser says. */
const TITLES: Readonly<Record<Screen, string>> = { ...NAMES, case: "Case", edit: "Edit" };

/** What everyone sees comes with the page, every other screen when it is first shown. */
const PAGES: Readonly<Record<Screen, ComponentType>> = {
  files: Files,
  criteria: later(() => import("./screens/criteria/criteria.js")),
  run: later(() => import("./screens/run/run.js")),
  results: Results,
  case: later(() => import("./screens/case/case.js")),
  edit: later(() => import("./screens/edit/edit.js")),
  compare: later(() => import("./screens/compare/compare.js")),
};

/** The way back to the step that a screen belongs to. */
const STEP_OF: Readonly<Partial<Record<Screen, Screen>>> = { case: "results", edit: "results" };

export function App() {
  const { screen, rest } = route.value;
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
        <Shown key={screen} screen={screen} at={rest.join("/")} />
      </main>
    </>
  );
}

/** A screen, or that it cannot be shown: the others can. */
function Shown({ screen, at }: { screen: Screen; at: string }) {
  const [error, forget] = useErrorBoundary();
  useEffect(() => forget, [at]);
  const Page = PAGES[screen];
  return error === undefined ? (
    <Page />
  ) : (
    <div role="alert">
      <Title>This cannot be shown</Title>
      <p>{String(error)}</p>
      <p>What is to be shown here may be damaged. The other screens can be used.</p>
    </div>
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
