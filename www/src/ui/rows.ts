/** Long lists of rows: only those in sight are in the document. */

import { type ReadonlySignal, useComputed, useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import "./rows.css";

/** The height of a row in pixels, which has to match the style sheet. */
export const ROW_HEIGHT = 36;
/** Rows rendered beyond those in sight, so that fast scrolling shows no gaps. */
const OVERSCAN = 8;

export interface RowsInSight {
  /** For the element that scrolls. */
  box: RefObject<HTMLDivElement | null>;
  /** How far it is scrolled. */
  top: { value: number };
  height: ReadonlySignal<number>;
  /** The first row to render, and the one after the last. */
  first: ReadonlySignal<number>;
  last: ReadonlySignal<number>;
  /** The key of the row in a position: rows that come into sight are rendered into elements of those that left it. */
  keyOf: (position: number) => number;
}

/** @param count How many rows there are; reads signals. */
export function useRowsInSight(count: () => number, initialTop = 0): RowsInSight {
  const box = useRef<HTMLDivElement>(null);
  const top = useSignal(initialTop);
  const height = useSignal(600);
  const first = useComputed(() => Math.max(0, Math.floor(top.value / ROW_HEIGHT) - OVERSCAN));
  const last = useComputed(() => Math.min(Math.ceil((top.value + height.value) / ROW_HEIGHT) + OVERSCAN, count()));
  const most = useComputed(() => Math.ceil(height.value / ROW_HEIGHT) + 1 + 2 * OVERSCAN);
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const resized = new ResizeObserver(() => {
      height.value = element.clientHeight;
    });
    resized.observe(element);
    return () => resized.disconnect();
  }, []);
  return { box, top, height, first, last, keyOf: (position) => position % most.value };
}

/** The style that puts a row in its position. */
export function rowStyle(position: number): { transform: string } {
  return { transform: `translateY(${position * ROW_HEIGHT}px)` };
}

/** The style of the element that holds all rows. */
export function bodyStyle(count: number): { height: string } {
  return { height: `${count * ROW_HEIGHT}px` };
}
