/** Places for files: to drop them on, and buttons to choose them. */

import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { takeDropped, takeFiles, type Taken } from "./reading.js";
import "./drop.css";

type OnTake = (reading: Promise<Taken>) => void;

interface DropZoneProps {
  label: string;
  onTake: OnTake;
  children: ComponentChildren;
}

export function DropZone({ label, onTake, children }: DropZoneProps) {
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
        if (event.dataTransfer !== null) onTake(takeDropped(event.dataTransfer));
      }}
    >
      {children}
    </section>
  );
}

export function FileButton({ label, isFolder = false, onTake }: { label: string; isFolder?: boolean; onTake: OnTake }) {
  return (
    <label class="button file">
      {label}
      <input
        type="file"
        class="visually-hidden"
        multiple
        {...(isFolder ? { webkitdirectory: true } : {})}
        onChange={({ currentTarget }) => {
          onTake(takeFiles([...(currentTarget.files ?? [])]));
          currentTarget.value = "";
        }}
      />
    </label>
  );
}
