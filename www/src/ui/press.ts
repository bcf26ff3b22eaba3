/**
 * What waits for the pointer to be released. A press that takes the focus from a field applies its change, and the page
 * may move what was pressed away from under the pointer, which would then click on nothing.
 */

/** Ends when the pointer that is pressed now is released. */
let press: Promise<void> | undefined;

addEventListener(
  "pointerdown",
  () => {
    const released = new Promise<void>((resolve) => {
      for (const type of ["pointerup", "pointercancel"]) {
        addEventListener(type, () => resolve(), { once: true, capture: true });
      }
    });
    press = released.then(() => {
      press = undefined;
    });
  },
  { capture: true },
);

/** Does something at once, or before the click of the pointer that is pressed now. */
export function whenReleased(work: () => void): void {
  if (press === undefined) work();
  else void press.then(work);
}
