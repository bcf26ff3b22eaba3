import { useEffect, useRef, useState } from "preact/hooks";
import { sentence } from "../ui/sentence.js";
import type { FileKind } from "../worker/protocol.js";
import type { Editor, PlacedProblem } from "./codemirror.js";

interface Props {
  text: string;
  label: string;
  kind: FileKind;
  problems: readonly PlacedProblem[];
  isReadOnly?: boolean;
  onChange(text: string): void;
}

/**
 * A JSON editor, loaded when it is first shown. It is in a shadow root, where CodeMirror adopts style sheets: the page's
 * Content-Security-Policy forbids style elements.
 */
export function JsonEditor({ text, label, kind, problems, isReadOnly = false, onChange }: Props) {
  const hostElement = useRef<HTMLDivElement>(null);
  const [editor, setEditor] = useState<Editor>();
  const [failed, setFailed] = useState(false);
  const [violations, setViolations] = useState<readonly PlacedProblem[]>([]);
  const latest = useRef({ text, onChange });
  latest.current = { text, onChange };
  // Typed text comes back as the property `text` later, when more may have been typed. It must not replace the newer text.
  const typed = useRef<string[]>([]);
  /** The text that the editor was given last: where it opened, more may have been typed before this renders again. */
  const given = useRef(text);
  useEffect(() => {
    let opened: Editor | undefined;
    let isUnmounted = false;
    const open = async () => {
      const { openEditor } = await import("./codemirror.js");
      const host = hostElement.current;
      if (isUnmounted || host === null) return;
      const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
      given.current = latest.current.text;
      opened = openEditor(root, {
        text: given.current,
        label,
        isReadOnly,
        onChange: (changed) => {
          typed.current.push(changed);
          latest.current.onChange(changed);
        },
        onViolations: setViolations,
      });
      setEditor(opened);
    };
    open().catch(() => setFailed(true));
    return () => {
      isUnmounted = true;
      opened?.destroy();
    };
  }, [label, isReadOnly]);
  // What kind of file it is, is known later, or is another one once more is typed.
  useEffect(() => {
    let isOther = false;
    const show = async () => {
      const { schemaOf } = await import("./schemas.js");
      const schema = await schemaOf(kind);
      if (!isOther) editor?.setSchema(schema);
    };
    show().catch(() => setFailed(true));
    return () => {
      isOther = true;
    };
  }, [editor, kind]);
  useEffect(() => {
    const index = typed.current.lastIndexOf(text);
    if (index >= 0) typed.current.splice(0, index);
    else if (text !== given.current) editor?.setText(text);
    given.current = text;
  }, [editor, text]);
  useEffect(() => editor?.setProblems(problems), [editor, problems]);
  const all = [...problems, ...violations];
  return (
    <div class="editor">
      {failed && <p role="alert">The editor could not be loaded. Reload the page to try again.</p>}
      {all.length > 0 && (
        <ul class="problems" aria-label="Problems" role="list">
          {all.map((problem, index) => (
            <li key={index} class={problem.isWarning === true ? "open" : "failed"}>
              <ProblemItem problem={problem} onShow={() => editor?.showProblem(problem)} />
            </li>
          ))}
        </ul>
      )}
      <div class="code" ref={hostElement} />
    </div>
  );
}

function ProblemItem({ problem, onShow }: { problem: PlacedProblem; onShow(): void }) {
  const { message, help, path, line } = problem;
  const place = [path === undefined || path === "" ? undefined : path, line === undefined ? undefined : `line ${line}`];
  const words = place.filter((part) => part !== undefined).join(", ");
  return (
    <>
      <span>
        {sentence(message)} {help !== undefined && sentence(help)}
      </span>{" "}
      {words !== "" && (
        <button type="button" class="link place" onClick={onShow}>
          {words}
        </button>
      )}
    </>
  );
}
