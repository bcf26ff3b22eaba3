/** The list of keys, which `?` opens. */

import { useEffect, useRef } from "preact/hooks";
import "./keys.css";

const KEYS: readonly (readonly [where: string, keys: readonly (readonly [key: string, what: string])[]])[] = [
  ["Everywhere", [["?", "This list"]]],
  [
    "Results",
    [
      ["↑ ↓ ← →", "Move between cells; with Ctrl+Home and Ctrl+End to the first and the last"],
      ["Page Up, Page Down", "A page of cases"],
      ["Enter", "Open the case, or sort by the column"],
    ],
  ],
  [
    "Thresholds",
    [
      ["← →", "Move a threshold; with Shift in small steps"],
      ["Double click", "Reset a threshold"],
    ],
  ],
  [
    "Case",
    [
      ["← →", "The previous and the next case"],
      ["n", "The next failure: a turn of the case, then the next case that failed"],
      ["t", "The next turn that failed"],
      ["f", "The next case that failed"],
      ["d", "Show only differences, or everything"],
      ["Escape", "Clear a highlight"],
    ],
  ],
  [
    "Labels",
    [
      ["y, n", "The verdict should pass, or fail; the rubric is met, or not"],
      ["1 to 5", "A score, where the metric has a scale"],
      ["← →", "The previous and the next verdict"],
      ["c", "Comment; with Enter back"],
      ["Backspace", "Remove the label"],
    ],
  ],
];

/** Whether an element takes what is typed. */
function takesText(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest("input, select, textarea, [contenteditable]") !== null;
}

/** A button that opens the list of keys. */
export function Keys() {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    function onKeyDown(event: KeyboardEvent): void {
      if (event.key !== "?" || event.defaultPrevented || takesText(event.target)) return;
      event.preventDefault();
      dialog.current?.showModal();
    }
    addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  }, []);
  return (
    <>
      <button
        type="button"
        class="button"
        aria-label="Keyboard shortcuts"
        title="Keyboard shortcuts"
        aria-keyshortcuts="?"
        onClick={() => dialog.current?.showModal()}
      >
        ?
      </button>
      <dialog ref={dialog} class="keys" aria-labelledby="keys-title">
        <form method="dialog">
          <h2 id="keys-title">Keyboard shortcuts</h2>
          {KEYS.map(([where, keys]) => (
            <section key={where}>
              <h3>{where}</h3>
              <dl>
                {keys.map(([key, what]) => (
                  <div key={key}>
                    <dt>
                      <kbd>{key}</kbd>
                    </dt>
                    <dd>{what}</dd>
                  </div>
                ))}
              </dl>
            </section>
          ))}
          <button type="submit" class="button" data-kind="primary">
            Close
          </button>
        </form>
      </dialog>
    </>
  );
}
