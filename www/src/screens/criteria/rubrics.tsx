import { useSignal } from "@preact/signals";
import { isObject, type Json } from "../../state/criteria.js";
import { More } from "../../ui/more.js";
import { TextField } from "./fields.js";

interface Props {
  value: Json | undefined;
  set(path: readonly (string | number)[], value: Json | undefined): void;
}

/** How many rubrics are shown at first and added at a time. */
const RUBRICS_PER_PAGE = 50;

/** The rubrics of a criterion: properties in plain text, each with an id. */
export function Rubrics({ value, set }: Props) {
  const limit = useSignal(RUBRICS_PER_PAGE);
  const rubrics = Array.isArray(value) ? (value as readonly Json[]) : [];
  return (
    <fieldset class="group">
      <legend>Rubrics</legend>
      <p class="hint muted">Properties that the judge says yes or no to, besides those of the evalset.</p>
      {rubrics.slice(0, limit.value).map((rubric, index) => {
        const object = isObject(rubric) ? rubric : {};
        const content = object["rubric_content"] ?? object["rubricContent"];
        const contentObject = isObject(content) ? content : {};
        const idKey = "rubricId" in object ? "rubricId" : "rubric_id";
        const contentKey = "rubricContent" in object ? "rubricContent" : "rubric_content";
        const textKey = "textProperty" in contentObject ? "textProperty" : "text_property";
        return (
          <div class="rubric" key={index}>
            <TextField
              label={`Id of rubric ${index + 1}`}
              value={String(object[idKey] ?? "")}
              onInput={(typed) => set([index, idKey], typed)}
            />
            <TextField
              label={`Property of rubric ${index + 1}`}
              value={String(contentObject[textKey] ?? "")}
              placeholder="The answer names the price."
              onInput={(typed) => set([index, contentKey, textKey], typed)}
            />
            <button
              type="button"
              class="button"
              data-kind="quiet"
              aria-label={`Remove rubric ${index + 1}`}
              onClick={() => set(rubrics.length === 1 ? [] : [index], undefined)}
            >
              Remove
            </button>
          </div>
        );
      })}
      <div class="actions">
        <More limit={limit} total={rubrics.length} step={RUBRICS_PER_PAGE} noun="rubric" />
        <button
          type="button"
          class="button"
          onClick={() => {
            limit.value = Math.max(limit.value, rubrics.length + 1);
            const rubric = { rubric_id: unusedId(rubrics), rubric_content: { text_property: "" } };
            set(rubrics.length === 0 ? [] : [rubrics.length], rubrics.length === 0 ? [rubric] : rubric);
          }}
        >
          Add a rubric
        </button>
      </div>
    </fieldset>
  );
}

function unusedId(rubrics: readonly Json[]): string {
  const taken = new Set(rubrics.map((rubric) => (isObject(rubric) ? (rubric["rubric_id"] ?? rubric["rubricId"]) : "")));
  for (let number = rubrics.length + 1; ; number += 1) {
    if (!taken.has(`rubric_${number}`)) return `rubric_${number}`;
  }
}
