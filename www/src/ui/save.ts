/** Downloads. */

/** Lets the browser save a file. */
export function save(name: string, content: string | Uint8Array<ArrayBuffer> | Blob, type = "text/plain"): void {
  const blob = content instanceof Blob ? content : new Blob([content], { type });
  const address = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  // The browser fetches the URL later, and no event says when it has.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
