/** Files that are dropped or pasted anywhere on the page: beside the drop zone the browser would leave the page for them. */

import { goTo } from "../route.js";
import { fileFromText, readDropped, readFiles } from "../ui/read-files.js";
import { addFiles } from "./adding.js";

addEventListener("dragover", (event) => {
  if (event.dataTransfer?.types.includes("Files") === true) event.preventDefault();
});

addEventListener("drop", (event) => {
  // The drop zone has taken it, or something that takes texts.
  if (event.defaultPrevented || event.dataTransfer?.types.includes("Files") !== true) return;
  event.preventDefault();
  const reading = readDropped(event.dataTransfer);
  goTo("files");
  void addFiles(reading);
});

addEventListener("paste", (event) => {
  const { clipboardData, target } = event;
  if (clipboardData === null || !location.hash.match(/^(#\/?(files)?)?$/) || isEditable(target)) return;
  event.preventDefault();
  const text = clipboardData.getData("text/plain");
  const { files } = clipboardData;
  void addFiles(files.length > 0 ? readFiles(files) : Promise.resolve({ files: fileFromText(text), skipped: [] }));
});

function isEditable(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest("input, textarea, select, .editor") !== null;
}
