import { JsonEditor } from "../../editor/editor.js";
import type { PlacedProblem } from "../../editor/codemirror.js";
import { goTo, hrefOf, route } from "../../route.js";
import { configInfo, configText } from "../../state/config.js";
import { runBlocker } from "../../state/job.js";
import { runAndShow } from "../../state/running.js";
import { EstimateTable } from "../run/estimate.js";
import { sentence } from "../../ui/sentence.js";
import { JudgePanel } from "./judge.js";
import { Metrics } from "./metrics.js";
import { OptionsPanel } from "./options.js";
import { Title } from "../../ui/title.js";
import "../../styles/inputs.css";
import "./criteria.css";

export default function Criteria() {
  const isJson = route.value.rest[0] === "json";
  const info = configInfo.value;
  const problems: PlacedProblem[] =
    info === undefined
      ? []
      : info.ok
        ? info.value.warnings.map((one) => ({ ...one, isWarning: true }))
        : [info.problem];
  const blocker = runBlocker.value;
  return (
    <div class="criteria">
      <div class="what">
        <div class="top">
          <Title>Criteria</Title>
          <nav aria-label="How the criteria are edited" class="switch">
            <a href={hrefOf("criteria")} {...(isJson ? {} : { "aria-current": "page" as const })}>
              Form
            </a>
            <a href={hrefOf("criteria", "json")} {...(isJson ? { "aria-current": "page" as const } : {})}>
              JSON
            </a>
          </nav>
          <div class="actions end">
            <button
              type="button"
              class="button"
              data-kind="primary"
              aria-disabled={blocker !== undefined || info?.ok !== true}
              aria-describedby="run-what"
              onClick={async () => {
                if (blocker?.screen === "files") goTo("files");
                if (blocker !== undefined || info?.ok !== true) return;
                await runAndShow();
              }}
            >
              Score
            </button>
            <p class="muted" id="run-what">
              {blocker?.what}
            </p>
          </div>
        </div>
        {!isJson && info?.ok === false && (
          <div class="note failed" role="alert">
            <p>
              {sentence(info.problem.message)}
              {info.problem.help !== undefined && ` ${sentence(info.problem.help)}`}{" "}
              <a href={hrefOf("criteria", "json")}>Correct it in the JSON</a>
            </p>
          </div>
        )}
        {isJson ? (
          <JsonEditor
            text={configText.value}
            label="The eval config"
            kind="config"
            problems={problems}
            onChange={(text) => {
              configText.value = text;
            }}
          />
        ) : (
          <Metrics />
        )}
      </div>
      <aside class="judge-column" aria-label="Judge and run">
        <JudgePanel />
        <OptionsPanel />
        <section aria-labelledby="will-ask" class="panel">
          <h2 id="will-ask">Estimated judge calls</h2>
          <EstimateTable />
        </section>
      </aside>
    </div>
  );
}
