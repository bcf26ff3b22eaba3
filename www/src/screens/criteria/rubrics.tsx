import { isObject, type Json } from "../../state/config.js";
import { TextField } from "./fields.js";

interface Props {
  value: Json | undefined;
  set(path: readonly (string | number)[], value: Json | undefined): void;
}

/** The rubrics of a criterion: properties in words, each with an id. */
export function Rubrics({ value, set }: Props) {
  const rubrics = Array.isArray(value) ? (value as readonly Json[]) : [];
  return (
    <fieldset class="group">
      <legend>Rubrics</legend>
      <p class="hint muted">Properties that the judge says yes or no to, besides those of the evalset.</p>
      {rubrics.map((rubric, at) => {
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
      <div>
        <button
          type="button"
          class="button"
          onClick={() => {
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
