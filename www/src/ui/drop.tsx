/** Drop zones and buttons for choosing files. */

import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { readDropped, readFiles, type ReadFiles } from "./read-files.js";
import "./drop.css";

type OnFiles = (reading: Promise<ReadFiles>) => void;

interface DropZoneProps {
  label: string;
  onFiles: OnFiles;
  children: ComponentChildren;
}

export function DropZone({ label, onFiles, children }: DropZoneProps) {
  const isOver = useSignal(false);
  return (
    <section
      class={isOver.value ? "drop over" : "drop"}
      aria-label={label}
      onDragOver={(event) => {
        event.preventDefault();
        isOver.value = true;
      }}
      onDragLeave={() => {
        isOver.value = false;
      }}
      onDrop={(event) => {
        event.preventDefault();
        isOver.value = false;
        if (event.dataTransfer !== null) onFiles(readDropped(event.dataTransfer));
      }}
    >
      {children}
    </section>
  );
}

export function FileButton({
  label,
  isFolder = false,
  isPrimary = false,
  onFiles,
}: {
  label: string;
  isFolder?: boolean;
  isPrimary?: boolean;
  onFiles: OnFiles;
}) {
  return (
    <label class="button file" {...(isPrimary ? { "data-kind": "primary" } : {})}>
      {label}
      <input
        type="file"
        class="visually-hidden"
        multiple
        {...(isFolder ? { webkitdirectory: true } : {})}
        onChange={({ currentTarget }) => {
          onFiles(readFiles([...(currentTarget.files ?? [])]));
          currentTarget.value = "";
        }}
      />
    </label>
  );
}
