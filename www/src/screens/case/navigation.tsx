/** The way to other cases, by links and by keys. */

import { EvalStatus } from "../../enums.js";
import { goTo, hrefOf } from "../../route.js";
import { summary, verdicts } from "../../state/run.js";
import { amountText } from "../../ui/format.js";
import { visibleText } from "../../ui/text.js";
import { names, rows } from "../results/view.js";
import { useKeys } from "./keys.js";

/** Links to the previous and the next case, in the order and with the filter of the results. */
export function CaseNavigation({ row }: { row: number }) {
  const shownRows = rows.value;
  const position = shownRows.indexOf(row);
  const previous = position < 0 ? undefined : shownRows[position - 1];
  const next = position < 0 ? undefined : shownRows[position + 1];
  const failed = nextFailedCase(row);
  const goToCase = (to: number | undefined) => (to === undefined ? undefined : () => goTo("case", to));
  useKeys({ ArrowLeft: goToCase(previous), ArrowRight: goToCase(next), f: goToCase(failed) });
  const link = (to: number | undefined, name: string, arrow: string, key: string) => (
    <a
      class="button"
      {...(to === undefined
        ? { role: "link", "aria-disabled": true }
        : { href: hrefOf("case", to), title: visibleText(names.value[to] ?? ""), "aria-keyshortcuts": key })}
    >
      {arrow === "←" && <span aria-hidden="true">←</span>}
      {name}
      {arrow === "→" && <span aria-hidden="true">→</span>}
    </a>
  );
  return (
    <nav class="neighbours" aria-label="Cases">
      <a href={hrefOf("results")}>Results</a>
      <span class="muted">
        {position < 0 ? "not among the cases shown" : `${amountText(position + 1)} of ${amountText(shownRows.length)}`}
      </span>
      {link(previous, "Previous", "←", "ArrowLeft")}
      {link(next, "Next", "→", "ArrowRight")}
      {link(failed, "Next failed", "", "f")}
    </nav>
  );
}

/** The row of the next case that failed, in the order and with the filter of the results. */
export function nextFailedCase(row: number): number | undefined {
  const cases = (verdicts.value ?? summary.value?.verdicts)?.cases;
  const position = rows.value.indexOf(row);
  return position < 0 ? undefined : rows.value.subarray(position + 1).find((one) => cases?.[one] === EvalStatus.FAILED);
}
