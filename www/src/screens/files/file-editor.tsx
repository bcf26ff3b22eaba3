import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { JsonEditor } from "../../editor/editor.js";
import type { PlacedProblem } from "../../editor/codemirror.js";
import { hrefOf } from "../../route.js";
import { activeConfig } from "../../state/active-config.js";
import { configText } from "../../state/config.js";
import { KIND_NAMES, markSaved, rename, type Source, write } from "../../state/inputs.js";
import { judgeKind } from "../../state/judge.js";
import { save } from "../../ui/save.js";
import { Name } from "../../ui/text.js";
import { Title } from "../../ui/title.js";

/** The editor of a file. Changes apply as they are typed; nothing has to be saved. */
export default function FileEditor({ source }: { source: Source }) {
  const { id, name, bytes, info, isEdited } = source;
  const text = useSignal(new TextDecoder().decode(bytes));
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const pendingText = useRef<string | undefined>(undefined);

  const applyTyped = () => {
    clearTimeout(timer.current);
    if (pendingText.current === undefined) return;
    const typed = pendingText.current;
    pendingText.current = undefined;
    if (activeConfig.value === id) configText.value = typed;
    else void write(id, typed);
    if (info?.kind === "recording") judgeKind.value = "recording";
  };
  // Applies the last input if the screen is left before the timer fires.
  useEffect(() => applyTyped, []);

  const { problem } = info ?? {};
  const problems: PlacedProblem[] = problem === undefined ? [] : [problem];
  return (
    <div class="file-editor">
      <p>
        <a href={hrefOf("files")}>← All files</a>
      </p>
      <div class="head">
        <Title>
          <span class="visually-hidden">Edit </span>
          <Name>{name}</Name>
        </Title>
        <p class="muted">
          {info === undefined ? "…" : KIND_NAMES[info.kind]} ·{" "}
          <span role="status">
            {info === undefined ? "is being read" : problem === undefined ? "can be read" : "cannot be read"}
          </span>
          {isEdited && " · not saved as a file"}
        </p>
        <button
          type="button"
          class="button"
          onClick={() => {
            applyTyped();
            save(name, text.value, "application/json");
            markSaved(id);
          }}
        >
          Save as a file
        </button>
        <label class="rename">
          Name{" "}
          <input
            class="field"
            value={name}
            onChange={({ currentTarget }) => {
              applyTyped();
              rename(id, currentTarget.value);
            }}
          />
        </label>
      </div>
      <JsonEditor
        text={text.value}
        label={`The text of ${name}`}
        kind={info?.kind ?? "unknown"}
        problems={problems}
        onChange={(typed) => {
          text.value = typed;
          pendingText.current = typed;
          clearTimeout(timer.current);
          timer.current = setTimeout(applyTyped, 250);
        }}
      />
    </div>
  );
}
