import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

let isFirst = true;

/**
 * The heading of a screen. What had the focus may have gone with the screen before: then its heading has it, so that
 * whoever uses a keyboard or a screen reader goes on from there. The first screen leaves the focus to the browser.
 */
export function Title({ children }: { children: ComponentChildren }) {
  const heading = useRef<HTMLHeadingElement>(null);
  // After layout effects, in which a screen may put the focus elsewhere.
  useEffect(() => {
    if (!isFirst && document.activeElement === document.body) heading.current?.focus({ preventScroll: true });
    isFirst = false;
  }, []);
  return (
    <h1 ref={heading} tabIndex={-1}>
      {children}
    </h1>
  );
}
