import { JsonEditor } from "../../editor/editor.js";
import type { PlacedProblem } from "../../editor/codemirror.js";
import { goTo, hrefOf, route } from "../../route.js";
import { configFacts, configText } from "../../state/config.js";
import { obstacle } from "../../state/job.js";
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
  const facts = configFacts.value;
  const problems: PlacedProblem[] =
    facts === undefined
      ? []
      : facts.ok
        ? facts.value.warnings.map((one) => ({ ...one, isWarning: true }))
        : [facts.problem];
  const next = obstacle.value;
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
              aria-disabled={next !== undefined || facts?.ok !== true}
              aria-describedby="run-what"
              onClick={async () => {
                if (next?.screen === "files") goTo("files");
                if (next !== undefined || facts?.ok !== true) return;
                await runAndShow();
              }}
            >
              Score
            </button>
            <p class="muted" id="run-what">
              {next?.what}
            </p>
          </div>
        </div>
        {!isJson && facts?.ok === false && (
          <div class="note failed" role="alert">
            <p>
              {sentence(facts.problem.message)}
              {facts.problem.help !== undefined && ` ${sentence(facts.problem.help)}`}{" "}
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
      <aside class="who" aria-label="Judge and run">
        <JudgePanel />
        <OptionsPanel />
        <section aria-labelledby="will-ask" class="panel">
          <h2 id="will-ask">What will be asked</h2>
          <EstimateTable />
        </section>
      </aside>
    </div>
  );
}
