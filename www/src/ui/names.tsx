/** A few names with what they name. */

import { amountText } from "./format.js";
import { Name } from "./text.js";

/** How many names are listed. */
const MOST_NAMES = 3;

interface NamesProps {
  one: string;
  several: string;
  names: readonly string[];
  /** Whether they are a line of their own instead of an entry of a description list. */
  isLine?: boolean;
}

/** `Judges gpt-6, gpt-6-mini, gemini-3-flash and 2 more` */
export function Names({ one, several, names, isLine = false }: NamesProps) {
  if (names.length === 0) return null;
  const what = names.length === 1 ? one : several;
  const more = names.length - MOST_NAMES;
  const list = (
    <>
      {names.slice(0, MOST_NAMES).map((name, index) => (
        <>
          {index > 0 && ", "}
          <Name>{name}</Name>
        </>
      ))}
      {more > 0 && ` and ${amountText(more)} more`}
    </>
  );
  if (isLine) {
    return (
      <small class="named">
        {what} {list}
      </small>
    );
  }
  return (
    <div>
      <dt>{what}</dt>
      <dd>{list}</dd>
    </div>
  );
}
