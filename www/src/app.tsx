import type { ComponentType } from "preact";
import { useEffect, useErrorBoundary, useLayoutEffect } from "preact/hooks";
import { hrefOf, route } from "./route.js";
import Files from "./screens/files/files.js";
import { FollowedNote } from "./screens/followed.js";
import Results from "./screens/results/results.js";
import { type EagerScreen, type Screen, type ScreenEntry, SCREEN_ENTRIES, SCREENS } from "./screens/table.js";
import { type Theme, theme } from "./theme.js";
import { Keys } from "./ui/keys.js";
import { lazy } from "./ui/lazy.js";
import { Title } from "./ui/title.js";

/** The screens that most visits need are part of the main bundle; the others are loaded when they are first shown. */
const EAGER_SCREENS: Readonly<Record<EagerScreen, ComponentType>> = { files: Files, results: Results };

const SCREEN_COMPONENTS: ReadonlyMap<Screen, ComponentType> = new Map([
  ...(Object.entries(EAGER_SCREENS) as [Screen, ComponentType][]),
  ...SCREEN_ENTRIES.flatMap(([name, { load }]): [Screen, ComponentType][] =>
    load === undefined ? [] : [[name, lazy(load)]],
  ),
]);

const STEPS = SCREEN_ENTRIES.filter(([, { stepOf }]) => stepOf === undefined);

export function App() {
  const { screen, rest } = route.value;
  const { title, stepOf: step = screen }: ScreenEntry = SCREENS[screen];
  // Before the effects of a screen, which may name what it shows.
  useLayoutEffect(() => {
    document.title = `${title} – adk-metrics`;
  }, [title]);
  return (
    <>
      <button type="button" class="button skip" onClick={() => document.getElementById("main")?.focus()}>
        Skip to the content
      </button>
      <header class="bar">
        <a class="name" href={hrefOf("files")}>
          adk-metrics
        </a>
        <nav aria-label="Steps">
          <ol>
            {STEPS.map(([name, entry]) => (
              <li key={name}>
                <a href={hrefOf(name)} {...(name === step ? { "aria-current": "page" as const } : {})}>
                  {entry.title}
                </a>
              </li>
            ))}
          </ol>
        </nav>
        <ThemeChoice />
        <Keys />
      </header>
      <main class="page" id="main" tabIndex={-1}>
        <FollowedNote />
        <ScreenBoundary key={screen} screen={screen} at={rest.join("/")} />
      </main>
    </>
  );
}

/** Shows a screen, or an error if its rendering fails. The other screens stay usable. */
function ScreenBoundary({ screen, at }: { screen: Screen; at: string }) {
  const [error, resetError] = useErrorBoundary();
  useEffect(() => resetError, [at]);
  const Page = SCREEN_COMPONENTS.get(screen);
  return error === undefined && Page !== undefined ? (
    <Page />
  ) : (
    <div role="alert">
      <Title>This cannot be shown</Title>
      <p>{String(error)}</p>
      <p>The data behind this screen may be damaged. The other screens still work.</p>
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
        <option value="system">Theme: system</option>
        <option value="light">Light</option>
        <option value="dark">Dark</option>
      </select>
    </label>
  );
}
