import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

let isFirst = true;

/**
 * The heading of a screen. If the focused element was removed with the previous screen, the heading gets the focus, so
 * that keyboard and screen reader users continue from there. On the first screen, the focus is left to the browser.
 */
export function Title({ children }: { children: ComponentChildren }) {
  const heading = useRef<HTMLHeadingElement>(null);
  // After layout effects, in which a screen may focus something else.
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
