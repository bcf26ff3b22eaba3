/** A field of a form. A change applies when it loses the focus. */

import { useEffect, useId, useState } from "preact/hooks";
import { whenReleased } from "../../ui/press.js";

interface FieldProps {
  label: string;
  value: string;
  isLong?: boolean;
  isJson?: boolean;
  isNumber?: boolean;
  placeholder?: string;
  /** The id of a list of suggestions. */
  list?: string;
  /** Stands below it. */
  help?: string;
  onChange(value: string): Promise<unknown>;
}

export function Field({ label, value, isLong = false, isJson = false, isNumber = false, ...more }: FieldProps) {
  const { placeholder = "", list, help, onChange } = more;
  const id = useId();
  const [typed, setTyped] = useState(value);
  // A rejected text stays so that it can be corrected, unless the value changes meanwhile.
  useEffect(() => setTyped(value), [value]);
  const common = {
    id,
    value: typed,
    placeholder,
    class: isJson ? "field mono" : "field",
    spellcheck: !isJson && !isNumber,
    dir: isJson || isNumber ? ("ltr" as const) : ("auto" as const),
    ...(list === undefined ? {} : { list }),
    ...(help === undefined ? {} : { "aria-describedby": `${id}-help` }),
    ...(isNumber ? { inputMode: "decimal" as const } : {}),
    onBlur: () => {
      if (typed !== value) whenReleased(() => void onChange(typed));
    },
  };
  return (
    <div class="edit-field">
      <label for={id}>{label}</label>
      {isLong || isJson ? (
        <textarea
          {...common}
          rows={Math.min(18, Math.max(isJson ? 3 : 2, typed.split("\n").length))}
          onInput={({ currentTarget }) => setTyped(currentTarget.value)}
        />
      ) : (
        <input {...common} type="text" onInput={({ currentTarget }) => setTyped(currentTarget.value)} />
      )}
      {help !== undefined && (
        <small id={`${id}-help`} class="muted">
          {help}
        </small>
      )}
    </div>
  );
}
