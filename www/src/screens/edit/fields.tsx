/** The fields of a case. A change applies when the field loses the focus. */

import { goTo } from "../../route.js";
import { change, fileId } from "../../state/edit.js";
import { summary } from "../../state/run.js";
import { Calls } from "./calls.js";
import { Field } from "./field.js";
import type { EditableCase, EditableRubric, EditableTurn } from "../../worker/protocol.js";

interface FieldsProps {
  evalCase: EditableCase;
  /** The row of the case in the run that is shown. */
  row: number | undefined;
}

export function Fields({ evalCase, row }: FieldsProps) {
  const { turns, scenario, rubrics, evalId } = evalCase;
  const accept = async (turn?: number): Promise<void> => {
    const run = summary.value?.id;
    if (run === undefined || row === undefined) return;
    await change({ kind: "accept", run, row, ...(turn === undefined ? {} : { turn }) });
  };
  return (
    <section class="edit-case" aria-label={`Case ${evalId}`}>
      <div class="edit-line">
        <Field
          label="Eval id"
          value={evalId}
          onChange={async (id) => {
            if ((await change({ kind: "rename", evalId: id })) && fileId.value !== undefined)
              goTo("edit", fileId.value, id);
          }}
        />
        {row !== undefined && turns.length > 0 && (
          <button type="button" class="button" onClick={() => void accept()}>
            Accept everything the agent did
          </button>
        )}
      </div>
      {scenario !== undefined && (
        <Field
          label="Scenario of the simulated user, JSON"
          value={scenario}
          isJson
          onChange={(json) => change({ kind: "scenario", json })}
        />
      )}
      {turns.map((turn, index) => (
        <Turn
          key={index}
          turn={turn}
          index={index}
          isOnly={turns.length === 1}
          accept={row === undefined ? undefined : () => accept(index)}
        />
      ))}
      {scenario === undefined && (
        <button type="button" class="button add" onClick={() => void change({ kind: "addTurn" })}>
          Add a turn
        </button>
      )}
      <Rubrics
        title="Rubrics of the case"
        rubrics={rubrics}
        onChange={(all) => change({ kind: "rubrics", rubrics: all })}
      />
    </section>
  );
}

interface TurnProps {
  turn: EditableTurn;
  index: number;
  isOnly: boolean;
  accept: (() => Promise<void>) | undefined;
}

function Turn({ turn, index, isOnly, accept }: TurnProps) {
  const { user, answer, intermediateData, calls, rubrics } = turn;
  return (
    <fieldset class="edit-turn">
      <legend>Turn {index + 1}</legend>
      <Field
        label="The user says"
        value={user}
        isLong
        onChange={(text) => change({ kind: "user", turn: index, text })}
      />
      <Field
        label="Expected answer"
        value={answer}
        isLong
        onChange={(text) => change({ kind: "answer", turn: index, text })}
      />
      <Calls calls={calls} turn={index} />
      <details>
        <summary>Expected tool calls and events as JSON</summary>
        <Field
          label="Expected tool calls and events (JSON)"
          value={intermediateData}
          isJson
          onChange={(json) => change({ kind: "intermediateData", turn: index, json })}
        />
      </details>
      <Rubrics
        title={`Rubrics of turn ${index + 1}`}
        rubrics={rubrics}
        onChange={(all) => change({ kind: "rubrics", turn: index, rubrics: all })}
      />
      <div class="edit-actions">
        {accept !== undefined && (
          <button type="button" class="button" onClick={() => void accept()}>
            Accept what the agent did
          </button>
        )}
        {!isOnly && (
          <button type="button" class="button" onClick={() => void change({ kind: "removeTurn", turn: index })}>
            Delete
            <span class="visually-hidden"> turn {index + 1}</span>
          </button>
        )}
      </div>
    </fieldset>
  );
}

interface RubricsProps {
  title: string;
  rubrics: readonly EditableRubric[];
  onChange(rubrics: EditableRubric[]): Promise<unknown>;
}

/** The types by which google-adk assigns rubrics of cases and turns to metrics. */
const RUBRIC_TYPES = ["FINAL_RESPONSE_QUALITY", "TOOL_USE_QUALITY", "TRAJECTORY_QUALITY"];

function Rubrics({ title, rubrics, onChange }: RubricsProps) {
  const update = (at: number, change: Partial<EditableRubric>) =>
    onChange(rubrics.map((rubric, index) => (index === at ? { ...rubric, ...change } : rubric)));
  return (
    <div class="edit-rubrics" role="group" aria-label={title}>
      <h2>{title}</h2>
      {rubrics.map(({ id, text, type }, at) => (
        <div key={at} class="edit-rubric">
          <Field label="Id" value={id} onChange={(value) => update(at, { id: value })} />
          <Field label="Requirement" value={text} isLong onChange={(value) => update(at, { text: value })} />
          <label class="edit-field">
            <span>For</span>
            <select
              class="field"
              value={type}
              onChange={({ currentTarget }) => void update(at, { type: currentTarget.value })}
            >
              <option value="">no metric in particular</option>
              {[...new Set([...RUBRIC_TYPES, ...(type === "" ? [] : [type])])].map((name) => (
                <option key={name} value={name}>
                  {name}
                </option>
              ))}
            </select>
          </label>
          <button
            type="button"
            class="button"
            onClick={() => void onChange(rubrics.filter((_, index) => index !== at))}
          >
            Delete
            <span class="visually-hidden"> rubric {id}</span>
          </button>
        </div>
      ))}
      <button
        type="button"
        class="button"
        onClick={() => void onChange([...rubrics, { id: unusedId(rubrics), text: "…", type: RUBRIC_TYPES[0] ?? "" }])}
      >
        Add a rubric
        <span class="visually-hidden"> to the {title.toLowerCase()}</span>
      </button>
    </div>
  );
}

function unusedId(rubrics: readonly EditableRubric[]): string {
  for (let number = rubrics.length + 1; ; number += 1) {
    if (!rubrics.some(({ id }) => id === `rubric_${number}`)) return `rubric_${number}`;
  }
}
