import { useSignal } from "@preact/signals";
import { isObject, type Json } from "../../state/criteria.js";
import { More } from "../../ui/more.js";
import { TextField } from "./fields.js";

interface Props {
  value: Json | undefined;
  set(path: readonly (string | number)[], value: Json | undefined): void;
}

/** Rubrics shown at first, and with each further press. */
const SOME = 50;

/** The rubrics of a criterion: properties in words, each with an id. */
export function Rubrics({ value, set }: Props) {
  const most = useSignal(SOME);
  const rubrics = Array.isArray(value) ? (value as readonly Json[]) : [];
  return (
    <fieldset class="group">
      <legend>Rubrics</legend>
      <p class="hint muted">Properties that the judge says yes or no to, besides those of the evalset.</p>
      {rubrics.slice(0, most.value).map((rubric, at) => {
        const bag = isObject(rubric) ? rubric : {};
        const content = bag["rubric_content"] ?? bag["rubricContent"];
        const inside = isObject(content) ? content : {};
        const idKey = "rubricId" in bag ? "rubricId" : "rubric_id";
        const contentKey = "rubricContent" in bag ? "rubricContent" : "rubric_content";
        const textKey = "textProperty" in inside ? "textProperty" : "text_property";
        return (
          <div class="rubric" key={at}>
            <TextField
              label={`Id of rubric ${at + 1}`}
              value={String(bag[idKey] ?? "")}
              onInput={(typed) => set([at, idKey], typed)}
            />
            <TextField
              label={`Property of rubric ${at + 1}`}
              value={String(inside[textKey] ?? "")}
              placeholder="The answer names the price."
              onInput={(typed) => set([at, contentKey, textKey], typed)}
            />
            <button
              type="button"
              class="button"
              data-kind="quiet"
              aria-label={`Take out rubric ${at + 1}`}
              onClick={() => set(rubrics.length === 1 ? [] : [at], undefined)}
            >
              Take out
            </button>
          </div>
        );
      })}
      <div class="actions">
        <More most={most} total={rubrics.length} step={SOME} noun="rubric" />
        <button
          type="button"
          class="button"
          onClick={() => {
            most.value = Math.max(most.value, rubrics.length + 1);
            const rubric = { rubric_id: newId(rubrics), rubric_content: { text_property: "" } };
            set(rubrics.length === 0 ? [] : [rubrics.length], rubrics.length === 0 ? [rubric] : rubric);
          }}
        >
          Add a rubric
        </button>
      </div>
    </fieldset>
  );
}

function newId(rubrics: readonly Json[]): string {
  const taken = new Set(rubrics.map((rubric) => (isObject(rubric) ? (rubric["rubric_id"] ?? rubric["rubricId"]) : "")));
  for (let number = rubrics.length + 1; ; number += 1) {
    if (!taken.has(`rubric_${number}`)) return `rubric_${number}`;
  }
}
