/** Keys that act on the case as a whole, wherever the focus is. */

import { useLayoutEffect, useRef } from "preact/hooks";

/** What keys do; a key without an action is left to the browser. */
type Actions = Readonly<Record<string, (() => void) | undefined>>;

export function useKeys(actions: Actions): void {
  const latest = useRef(actions);
  latest.current = actions;
  // A layout effect, so that the keys work as soon as the case is visible.
  useLayoutEffect(() => {
    function onKeyDown(event: KeyboardEvent): void {
      if (event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
      const act = Object.hasOwn(latest.current, event.key) ? latest.current[event.key] : undefined;
      if (act === undefined || takesKey(event.target, event.key)) return;
      event.preventDefault();
      act();
    }
    addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  }, []);
}

/** Whether an element handles a key itself: text what is typed, and what scrolls the arrow keys. */
function takesKey(target: EventTarget | null, key: string): boolean {
  if (!(target instanceof Element)) return false;
  const scrolls = key.startsWith("Arrow") ? ", [role=slider], [role=grid], .scroll, .context" : "";
  return target.closest(`input, select, textarea, [contenteditable], dialog${scrolls}`) !== null;
}
