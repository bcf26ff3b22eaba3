/** Opens a run from the fragment of the URL, `#run=…`. */

import { beforeQuery, goTo, LINK_PREFIX } from "../route.js";
import { engine } from "../worker/client.js";
import { open, problem, summary } from "./run.js";

/** The link that was opened last, and its run: filters may change in its address. */
let opened = { packed: "", run: "" };

async function openLink(): Promise<void> {
  if (!location.hash.startsWith(LINK_PREFIX)) return;
  const packed = beforeQuery(location.hash.slice(LINK_PREFIX.length));
  if (packed === opened.packed && summary.value?.id === opened.run) return;
  const outcome = await engine.unpackRun(packed);
  if (outcome.ok) {
    opened = { packed, run: outcome.value.id };
    open(outcome.value);
  } else {
    problem.value = outcome.problem;
    history.replaceState(null, "", location.pathname + location.search);
    goTo("run");
  }
}

addEventListener("hashchange", () => void openLink());
void openLink();
