import { useSignal } from "@preact/signals";
import { isObject, type Json } from "../../state/criteria.js";
import { CheckField, JsonField, NumberField, SelectField, TextField } from "./fields.js";
import { Rubrics } from "./rubrics.js";
import { toCamelCase, type Setting, labelOf } from "./settings.js";

interface Props {
  setting: Setting;
  /** The object that contains the setting. */
  parent: Readonly<Record<string, Json>>;
  /** Changes a value inside the parent; undefined removes it. */
  set(path: readonly (string | number)[], value: Json | undefined): void;
}

/** The control of a setting. Default values are not written to the config. */
export function SettingField({ setting, parent, set }: Props) {
  const { key, description, control } = setting;
  const writtenKey = key in parent ? key : toCamelCase(key) in parent ? toCamelCase(key) : key;
  const value = parent[writtenKey];
  const label = labelOf(key);
  const update = (next: Json | undefined) => set([writtenKey], next === setting.default ? undefined : next);
  const defaultText =
    setting.default === undefined || setting.default === null ? "" : ` Default: ${String(setting.default)}.`;
  switch (control.kind) {
    case "flag": {
      const now =
        value === undefined
          ? setting.default === true
          : value === true || value === 1 || /^(t|true|y|yes|on|1)$/i.test(String(value));
      return <CheckField label={label} hint={description} checked={now} onChange={update} />;
    }
    case "choice": {
      const options = control.values;
      const selected = String(value ?? setting.default ?? options[0]?.value ?? "");
      const unknownOption = options.some((option) => option.value === selected)
        ? []
        : [{ value: selected, description: "" }];
      const meaning = options.find((option) => option.value === selected)?.description;
      return (
        <SelectField
          label={label}
          hint={[description, meaning === undefined || meaning === "" ? "" : `${selected}: ${meaning}`].join(" ")}
          value={selected}
          options={[...unknownOption, ...options].map((option) => ({ value: option.value, name: option.value }))}
          onChange={update}
        />
      );
    }
    case "number":
      return (
        <NumberField
          label={label}
          hint={`${description}${defaultText}`}
          value={typeof value === "number" ? value : undefined}
          min={control.min}
          max={control.max}
          step={control.isWhole ? 1 : "any"}
          placeholder={setting.default === undefined ? "" : String(setting.default)}
          onInput={update}
        />
      );
    case "text":
      return (
        <TextField
          label={label}
          hint={description}
          value={typeof value === "string" ? value : ""}
          placeholder={setting.default === undefined ? "" : String(setting.default)}
          onInput={(typed) => update(typed === "" ? undefined : typed)}
        />
      );
    case "map":
      return (
        <MapField
          label={label}
          hint={description}
          value={value}
          values={control.values}
          set={(path, next) => set([writtenKey, ...path], next)}
        />
      );
    case "rubrics":
      return <Rubrics value={value} set={(path, next) => set([writtenKey, ...path], next)} />;
    case "group": {
      const groupObject = isObject(value) ? (value as Readonly<Record<string, Json>>) : {};
      return (
        <fieldset class="group">
          <legend>{label}</legend>
          {control.settings.map((one) => (
            <SettingField
              key={one.key}
              setting={one}
              parent={groupObject}
              set={(path, next) => {
                if (isObject(value)) set([writtenKey, ...path], next);
                else if (next !== undefined) set([writtenKey], nestedValue(path, next));
              }}
            />
          ))}
        </fieldset>
      );
    }
    case "json":
      return <JsonSetting label={label} hint={description} value={value} onChange={update} />;
  }
}

/** A JSON value that is written to the config whenever it is valid. */
function JsonSetting({
  label,
  hint,
  value,
  onChange,
}: {
  label: string;
  hint: string;
  value: Json | undefined;
  onChange(value: Json | undefined): void;
}) {
  const typed = useSignal<string | undefined>(undefined);
  const failed = useSignal(false);
  const shown = typed.value ?? (value === undefined ? "" : JSON.stringify(value));
  return (
    <JsonField
      label={label}
      hint={failed.value ? "This is not JSON yet; the config keeps the value from before." : `${hint} As JSON.`}
      value={shown}
      onInput={(text) => {
        typed.value = text;
        try {
          onChange(text.trim() === "" ? undefined : (JSON.parse(text) as Json));
          failed.value = false;
        } catch {
          failed.value = true;
        }
      }}
    />
  );
}

function MapField({
  label,
  hint,
  value,
  values,
  set,
}: {
  label: string;
  hint: string;
  value: Json | undefined;
  values: readonly { value: string; description: string }[];
  set(path: readonly (string | number)[], value: Json | undefined): void;
}) {
  const name = useSignal("");
  const entries = Object.entries(isObject(value) ? value : {});
  const options = values.map((option) => ({ value: option.value, name: option.value }));
  return (
    <fieldset class="group">
      <legend>{label}</legend>
      <p class="hint muted">{hint}</p>
      {entries.map(([key, now]) => (
        <div class="pair" key={key}>
          <SelectField label={key} value={String(now)} options={options} onChange={(next) => set([key], next)} />
          <button
            type="button"
            class="button"
            data-kind="quiet"
            aria-label={`Remove ${key}`}
            onClick={() => set(entries.length === 1 ? [] : [key], undefined)}
          >
            Remove
          </button>
        </div>
      ))}
      <div class="pair">
        <TextField
          label="Name"
          value={name.value}
          onInput={(typed) => {
            name.value = typed;
          }}
        />
        <button
          type="button"
          class="button"
          aria-disabled={name.value.trim() === ""}
          onClick={() => {
            const key = name.value.trim();
            if (key === "") return;
            set(
              isObject(value) ? [key] : [],
              isObject(value) ? (values[0]?.value ?? null) : { [key]: values[0]?.value ?? null },
            );
            name.value = "";
          }}
        >
          Add
        </button>
      </div>
    </fieldset>
  );
}

/** Wraps a value in the objects of a path. */
function nestedValue(path: readonly (string | number)[], value: Json): Json {
  return path.reduceRight<Json>((inner, step) => ({ [step]: inner }), value);
}
