/** Choices side by side, each with a count; one of them is selected. */

interface ChoicesProps<Value extends string> {
  /** What they choose, for screen readers. */
  legend: string;
  /** The same for the choices of one group in a document. */
  name: string;
  choices: readonly (readonly [value: Value, name: string, count: number])[];
  chosen: Value;
  choose(value: Value): void;
}

export function Choices<Value extends string>({ legend, name, choices, chosen, choose }: ChoicesProps<Value>) {
  return (
    <fieldset class="choices">
      <legend class="visually-hidden">{legend}</legend>
      {choices.map(([value, label, count]) => (
        <label key={value} class={count === 0 && value !== chosen ? "muted" : undefined}>
          <input type="radio" name={name} checked={value === chosen} onChange={() => choose(value)} />
          {label} <small>{count.toLocaleString("en")}</small>
        </label>
      ))}
    </fieldset>
  );
}
