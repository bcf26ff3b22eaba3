/** Opens a run from the fragment of the URL, `#run=…`, and removes it from the URL. */

import { goTo } from "../route.js";
import { engine } from "../worker/client.js";
import { open, problem } from "./run.js";

const PREFIX = "#run=";

async function openLink(): Promise<void> {
  if (!location.hash.startsWith(PREFIX)) return;
  const outcome = await engine.unpackRun(location.hash.slice(PREFIX.length));
  history.replaceState(null, "", location.pathname + location.search);
  if (outcome.ok) {
    open(outcome.value);
    goTo("results");
  } else {
    problem.value = outcome.problem;
    goTo("run");
  }
}

addEventListener("hashchange", () => void openLink());
void openLink();
