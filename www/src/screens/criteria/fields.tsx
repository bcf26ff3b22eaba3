/** Form controls with labels and hints. */

import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

interface FieldProps {
  label: string;
  hint?: ComponentChildren;
}

/** A control with its label above and a hint below. */
function LabelledControl({
  label,
  hint,
  children,
}: FieldProps & { children: (ids: { id: string; hintId: string | undefined }) => ComponentChildren }) {
  const id = useId();
  const hintId = hint === undefined || hint === "" ? undefined : `${id}-hint`;
  return (
    <div class="choice">
      <label class="caption" for={id}>
        {label}
      </label>
      {children({ id, hintId })}
      {hintId !== undefined && (
        <span class="hint" id={hintId}>
          {hint}
        </span>
      )}
    </div>
  );
}

const describedBy = (hintId: string | undefined) => (hintId === undefined ? {} : { "aria-describedby": hintId });

export function TextField({
  label,
  hint,
  value,
  placeholder = "",
  type = "text",
  onInput,
}: FieldProps & {
  value: string;
  placeholder?: string;
  type?: "text" | "password" | "url";
  onInput(value: string): void;
}) {
  return (
    <LabelledControl label={label} hint={hint}>
      {({ id, hintId }) => (
        <input
          id={id}
          class="field"
          {...({ type } as { type: "text" })}
          value={value}
          placeholder={placeholder}
          autocomplete="off"
          spellcheck={false}
          {...describedBy(hintId)}
          onInput={({ currentTarget }) => onInput(currentTarget.value)}
        />
      )}
    </LabelledControl>
  );
}

/** A number; undefined if the field is empty. Invalid input is not passed on. */
export function NumberField({
  label,
  hint,
  value,
  min,
  max,
  step = "any",
  placeholder = "",
  onInput,
}: FieldProps & {
  value: number | undefined;
  min?: number | undefined;
  max?: number | undefined;
  step?: number | "any";
  placeholder?: string;
  onInput(value: number | undefined): void;
}) {
  return (
    <LabelledControl label={label} hint={hint}>
      {({ id, hintId }) => (
        <input
          id={id}
          class="field"
          type="number"
          inputMode="decimal"
          step={step}
          value={value ?? ""}
          placeholder={placeholder}
          {...(min === undefined ? {} : { min })}
          {...(max === undefined ? {} : { max })}
          {...describedBy(hintId)}
          onInput={({ currentTarget: { value: typed, validity } }) => {
            if (typed === "" && !validity.badInput) onInput(undefined);
            else if (typed !== "" && Number.isFinite(Number(typed))) onInput(Number(typed));
          }}
        />
      )}
    </LabelledControl>
  );
}

export function SelectField({
  label,
  hint,
  value,
  options,
  onChange,
}: FieldProps & { value: string; options: readonly { value: string; name: string }[]; onChange(value: string): void }) {
  return (
    <LabelledControl label={label} hint={hint}>
      {({ id, hintId }) => (
        <select
          id={id}
          class="field"
          value={value}
          {...describedBy(hintId)}
          onChange={({ currentTarget }) => onChange(currentTarget.value)}
        >
          {options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.name}
            </option>
          ))}
        </select>
      )}
    </LabelledControl>
  );
}

export function CheckField({
  label,
  hint,
  checked,
  onChange,
}: FieldProps & { checked: boolean; onChange(checked: boolean): void }) {
  const id = useId();
  const hintId = hint === undefined || hint === "" ? undefined : `${id}-hint`;
  return (
    <div class="check">
      <input
        id={id}
        type="checkbox"
        checked={checked}
        {...describedBy(hintId)}
        onChange={({ currentTarget }) => onChange(currentTarget.checked)}
      />
      <label for={id}>{label}</label>
      {hintId !== undefined && (
        <span class="hint" id={hintId}>
          {hint}
        </span>
      )}
    </div>
  );
}

export function JsonField({
  label,
  hint,
  value,
  onInput,
}: FieldProps & { value: string; onInput(value: string): void }) {
  return (
    <LabelledControl label={label} hint={hint}>
      {({ id, hintId }) => (
        <textarea
          id={id}
          class="field"
          rows={3}
          spellcheck={false}
          value={value}
          {...describedBy(hintId)}
          onInput={({ currentTarget }) => onInput(currentTarget.value)}
        />
      )}
    </LabelledControl>
  );
}
