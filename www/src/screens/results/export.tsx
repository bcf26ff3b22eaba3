/** Exports results as files, as an image or as a link. */

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { formats, loadFormats } from "../../state/formats.js";
import { summary, thresholds, runProgress, verdicts } from "../../state/run.js";
import { save } from "../../ui/save.js";
import { engine } from "../../worker/client.js";
import type { FormatChoice, RunSummary } from "../../worker/protocol.js";
import "./export.css";

/** Longer links may be truncated by mail and chat programs. */
const MAX_LINK_LENGTH = 30_000;

export function Export() {
  const message = useSignal("");
  const menu = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    const close = (event: Event) => {
      const isOutside = !menu.current?.contains(event.target as Node);
      const isEscape = event instanceof KeyboardEvent && event.key === "Escape";
      if (menu.current?.open !== true || !(isEscape || (event.type === "pointerdown" && isOutside))) return;
      menu.current.open = false;
      if (isEscape) menu.current.querySelector("summary")?.focus();
    };
    addEventListener("pointerdown", close);
    addEventListener("keydown", close);
    return () => {
      removeEventListener("pointerdown", close);
      removeEventListener("keydown", close);
    };
  }, []);
  // Before the menu opens, as far as that can be foreseen: the focus would pass what comes later.
  const load = () => void loadFormats();
  const run = summary.value;
  if (run === undefined || runProgress.value !== undefined) return null;
  return (
    <div class="exports">
      <details ref={menu} onToggle={load}>
        <summary class="button" onFocus={load} onPointerEnter={load}>
          Export
        </summary>
        <ul>
          {formats.value.map(({ format, label, about }) => (
            <Choice key={format} label={label} about={about} message={message} make={() => saveFiles(run, format)} />
          ))}
          <Choice label="Image" about="the histograms, PNG" message={message} make={() => saveImage(run, "png")} />
          <Choice
            label="SVG"
            about="the same, sharp at every size"
            message={message}
            make={() => saveImage(run, "svg")}
          />
          <Choice
            label="Copy link"
            about="a small run, in the address itself; no server stores it"
            message={message}
            make={() => copyLink(run)}
          />
        </ul>
      </details>
      <p role="status" class="muted">
        {message.value}
      </p>
    </div>
  );
}

interface ChoiceProps {
  label: string;
  about: string;
  message: { value: string };
  /** Makes what is exported, and says so. */
  make(): Promise<string>;
}

function Choice({ label, about, message, make }: ChoiceProps) {
  return (
    <li>
      <button
        type="button"
        onClick={() => {
          void showOutcome(message, make);
        }}
      >
        <b>{label}</b> <span class="muted">{about}</span>
      </button>
    </li>
  );
}

async function showOutcome(message: { value: string }, work: () => Promise<string>): Promise<void> {
  try {
    message.value = await work();
  } catch (error) {
    message.value = error instanceof Error ? error.message : String(error);
  }
}

async function saveFiles({ id }: RunSummary, format: FormatChoice["format"]): Promise<string> {
  const outcome = await engine.filesOf(id, format);
  if (!outcome.ok) throw new Error(outcome.problem.message);
  for (const { name, type, content } of outcome.value) save(name, content, type);
  return `Saved ${outcome.value.map(({ name }) => name).join(", ")}.`;
}

/** Saves the chart as SVG or PNG. */
async function saveImage(run: RunSummary, format: "svg" | "png"): Promise<string> {
  const { chartOf, pngOf } = await import("./chart.js");
  const svg = chartOf(run, verdicts.value ?? run.verdicts, thresholds.value);
  const name = `scores.${format}`;
  save(name, format === "svg" ? svg : await pngOf(svg), "image/svg+xml");
  return `Saved ${name}.`;
}

async function copyLink({ id }: RunSummary): Promise<string> {
  const outcome = await engine.packRun(id);
  if (!outcome.ok) throw new Error(outcome.problem.message);
  const address = `${location.href.replace(/#.*$/s, "")}#run=${outcome.value}`;
  if (address.length > MAX_LINK_LENGTH) {
    return `The run is too large for a link (${Math.round(address.length / 1000)} kB of 30). Send the HTML report instead.`;
  }
  await navigator.clipboard.writeText(address);
  return "The link is copied. It holds the conversations and the scores.";
}
