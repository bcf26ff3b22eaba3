import { EvalStatus } from "../enums.js";

const STYLES: Readonly<Record<EvalStatus, { tone: string; name: string }>> = {
  [EvalStatus.PASSED]: { tone: "passed", name: "Passed" },
  [EvalStatus.FAILED]: { tone: "failed", name: "Failed" },
  [EvalStatus.NOT_EVALUATED]: { tone: "open", name: "Not evaluated" },
  [EvalStatus.INFORMATIONAL]: { tone: "informational", name: "For information" },
};

/** The CSS class for the colours of a verdict. */
export function toneOf(status: number): string {
  return STYLES[status as EvalStatus]?.tone ?? "";
}

/** The name of a verdict. */
export function nameOf(status: number): string {
  return STYLES[status as EvalStatus]?.name ?? "";
}

/** The icon of a verdict, each with its own shape and colour. Its name is added for screen readers unless it is shown. */
export function Status({ of: status, isNamed = false }: { of: number; isNamed?: boolean }) {
  return (
    <span class={`status ${toneOf(status)}`}>
      <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
        {ICONS[status as EvalStatus]}
      </svg>
      {!isNamed && <span class="visually-hidden">{nameOf(status)}</span>}
    </span>
  );
}

const STROKE = { fill: "none", stroke: "currentColor", "stroke-width": 1.75, "stroke-linecap": "round" } as const;

const ICONS = {
  [EvalStatus.PASSED]: <path d="M3.5 8.5l3 3 6-7" {...STROKE} />,
  [EvalStatus.FAILED]: <path d="M4 4l8 8M12 4l-8 8" {...STROKE} />,
  [EvalStatus.NOT_EVALUATED]: <path d="M4 8h8" {...STROKE} />,
  [EvalStatus.INFORMATIONAL]: <circle cx="8" cy="8" r="2" fill="currentColor" />,
};
