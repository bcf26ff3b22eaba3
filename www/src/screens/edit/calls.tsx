/** The expected tool calls of a turn as a form, with a field for each argument of the tool. */

import { useId, useState } from "preact/hooks";
import { change, tools } from "../../state/edit.js";
import { count, head } from "../../ui/format.js";
import { visibleText } from "../../ui/text.js";
import type { EditableCall, KnownTool, ToolParameter } from "../../worker/protocol.js";
import { Field } from "./field.js";

/** The most calls of a turn, and arguments of a call, that have fields. */
const MOST_SHOWN = 100;

/** The most tools that are suggested while one is typed. */
const MOST_SUGGESTED = 500;

/** @param turn Counts from 0. */
export function Calls({ calls, turn }: { calls: readonly EditableCall[]; turn: number }) {
  const names = useId();
  return (
    <div class="edit-calls" role="group" aria-label={`Expected tool calls of turn ${turn + 1}`}>
      <h2>Expected tool calls</h2>
      <datalist id={names}>
        {tools.value.slice(0, MOST_SUGGESTED).map(({ name }) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      {calls.slice(0, MOST_SHOWN).map((call, at) => (
        <Call key={at} call={call} at={at} turn={turn} names={names} />
      ))}
      <Left all={calls.length} noun="call" />
      <AddCall turn={turn} names={names} />
    </div>
  );
}

/** That some have no fields. */
function Left({ all, noun }: { all: number; noun: string }) {
  if (all <= MOST_SHOWN) return null;
  return <p class="muted">{count(all - MOST_SHOWN, `more ${noun}`)}, to be edited as JSON</p>;
}

interface CallProps {
  call: EditableCall;
  at: number;
  turn: number;
  /** The id of the list of known tools. */
  names: string;
}

function Call({ call, at, turn, names }: CallProps) {
  const tool = tools.value.find(({ name }) => name === call.name);
  const of = { turn, call: at };
  const all = argumentsOf(call, tool);
  return (
    <fieldset class="edit-call">
      <legend>Call {at + 1}</legend>
      <Field
        label="Tool"
        value={call.name}
        list={names}
        onChange={(name) => change({ kind: "tool", ...of, name })}
        {...(tool?.description ? { help: shownText(tool.description) } : {})}
      />
      {all.slice(0, MOST_SHOWN).map(({ parameter, json }) => (
        <Argument
          key={parameter.name}
          parameter={parameter}
          json={json}
          onChange={(value) => change({ kind: "argument", ...of, key: parameter.name, json: value })}
        />
      ))}
      <Left all={all.length} noun="argument" />
      <AddArgument onAdd={(key, json) => change({ kind: "argument", ...of, key, json })} />
      <div class="edit-actions">
        {at > 0 && (
          <button type="button" class="button" onClick={() => void change({ kind: "moveCall", ...of })}>
            Move up
            <span class="visually-hidden"> call {at + 1}</span>
          </button>
        )}
        <button type="button" class="button" onClick={() => void change({ kind: "removeCall", ...of })}>
          Delete
          <span class="visually-hidden"> call {at + 1}</span>
        </button>
      </div>
    </fieldset>
  );
}

/** What a file says of a tool, as far as it fits below a field. */
function shownText(text: string): string {
  return visibleText(head(text, 300));
}

/** The arguments that the tool has, then others of the call. */
function argumentsOf({ args }: EditableCall, tool: KnownTool | undefined) {
  const own = new Map(args.map(({ key, json }) => [key, json]));
  const known = tool?.parameters ?? [];
  const names = new Set(known.map(({ name }) => name));
  const others = args.filter(({ key }) => !names.has(key));
  const unknown = others.map(({ key }): ToolParameter => {
    return { name: key, type: "", choices: [], isRequired: false, description: "" };
  });
  return [...known, ...unknown].map((parameter) => ({ parameter, json: own.get(parameter.name) ?? "" }));
}

interface ArgumentProps {
  parameter: ToolParameter;
  /** Its value as JSON; empty if it is not set. */
  json: string;
  onChange(json: string): Promise<unknown>;
}

/** A value that is not of the type that the tool declares is edited as the JSON that it is. */
function Argument({ parameter, json, onChange }: ArgumentProps) {
  const { name, choices, isRequired, description } = parameter;
  const common = {
    label: shownText(name) + (isRequired ? " (required)" : ""),
    ...(description === "" ? {} : { help: shownText(description) }),
  };
  const type = json === "" ? parameter.type : typeOfJson(json);
  if (type === "string") {
    const text = json === "" ? "" : (JSON.parse(json) as string);
    if (choices.length > 0 && (json === "" || choices.includes(text))) {
      return (
        <Choice
          {...common}
          value={text}
          isSet={json !== ""}
          options={choices}
          onChange={(chosen) => onChange(chosen === undefined ? "" : JSON.stringify(chosen))}
        />
      );
    }
    // An empty text is a value, too: only what is not required is left out.
    const left = isRequired ? '""' : "";
    return (
      <Field
        {...common}
        value={text}
        isLong={text.includes("\n")}
        placeholder={json === "" ? "not set" : ""}
        onChange={(typed) => onChange(typed === "" ? left : JSON.stringify(typed))}
      />
    );
  }
  if (type === "boolean") {
    return (
      <Choice
        {...common}
        value={json}
        isSet={json !== ""}
        options={["true", "false"]}
        onChange={(chosen) => onChange(chosen ?? "")}
      />
    );
  }
  if (type === "number" || type === "integer") {
    return <Field {...common} value={json} isNumber placeholder={json === "" ? "not set" : ""} onChange={onChange} />;
  }
  return (
    <Field {...common} label={`${common.label}, JSON`} value={json} isJson placeholder="not set" onChange={onChange} />
  );
}

function typeOfJson(json: string): string {
  const value: unknown = JSON.parse(json);
  if (value === null) return "";
  return Array.isArray(value) ? "array" : typeof value;
}

interface ChoiceProps {
  label: string;
  value: string;
  isSet: boolean;
  options: readonly string[];
  help?: string;
  /** @param chosen Undefined for none. */
  onChange(chosen: string | undefined): Promise<unknown>;
}

function Choice({ label, value, isSet, options, help, onChange }: ChoiceProps) {
  const id = useId();
  return (
    <div class="edit-field">
      <label for={id}>{label}</label>
      <select
        id={id}
        class="field"
        {...(help === undefined ? {} : { "aria-describedby": `${id}-help` })}
        value={isSet ? String(options.indexOf(value)) : ""}
        onChange={({ currentTarget }) => void onChange(options[Number.parseInt(currentTarget.value, 10)])}
      >
        <option value="">not set</option>
        {options.map((option, at) => (
          <option key={option} value={at}>
            {option}
          </option>
        ))}
      </select>
      {help !== undefined && (
        <small id={`${id}-help`} class="muted">
          {help}
        </small>
      )}
    </div>
  );
}

function AddCall({ turn, names }: { turn: number; names: string }) {
  const [name, setName] = useState("");
  const id = useId();
  const add = async () => {
    if (await change({ kind: "addCall", turn, name: name.trim() })) setName("");
  };
  return (
    <div class="edit-line">
      <div class="edit-field">
        <label for={id}>Tool of a new call</label>
        <input
          id={id}
          class="field"
          list={names}
          value={name}
          onInput={({ currentTarget }) => setName(currentTarget.value)}
        />
      </div>
      <button type="button" class="button" disabled={name.trim() === ""} onClick={() => void add()}>
        Add a call
      </button>
    </div>
  );
}

/** What an argument of a type has at first. */
const FIRST_VALUES = { text: '""', number: "0", "true or false": "true", JSON: "null" };

function AddArgument({ onAdd }: { onAdd(key: string, json: string): Promise<unknown> }) {
  const [name, setName] = useState("");
  const [type, setType] = useState<keyof typeof FIRST_VALUES>("text");
  const id = useId();
  const add = async () => {
    if (await onAdd(name, FIRST_VALUES[type])) setName("");
  };
  return (
    <details>
      <summary>Another argument</summary>
      <div class="edit-line">
        <div class="edit-field">
          <label for={id}>Name of the argument</label>
          <input id={id} class="field" value={name} onInput={({ currentTarget }) => setName(currentTarget.value)} />
        </div>
        <label class="edit-field">
          <span>Type</span>
          <select
            class="field"
            value={type}
            onChange={({ currentTarget }) => setType(currentTarget.value as typeof type)}
          >
            {Object.keys(FIRST_VALUES).map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </label>
        <button type="button" class="button" disabled={name === ""} onClick={() => void add()}>
          Add the argument
        </button>
      </div>
    </details>
  );
}
