/** Files for the user to keep. */

/** Has the browser save a file. */
export function save(name: string, content: string | Uint8Array<ArrayBuffer> | Blob, type = "text/plain"): void {
  const blob = content instanceof Blob ? content : new Blob([content], { type });
  const address = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  // The browser has to fetch it first; there is no event for when it has.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
