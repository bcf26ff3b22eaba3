/** What happened to the files that are followed. */

import { goTo } from "../route.js";
import { followedNote } from "../state/followed.js";
import { showRun } from "../state/runs.js";
import { Text } from "../ui/text.js";
import "./followed.css";

export function FollowedNote() {
  const note = followedNote.value;
  const dismiss = () => {
    followedNote.value = undefined;
  };
  return (
    <div role="status">
      {note !== undefined && (
        <div class="followed">
          <p>
            <Text fold={400}>{note.text}</Text>
          </p>
          {note.run !== undefined && (
            <button
              type="button"
              class="button"
              onClick={async () => {
                await showRun(note.run ?? "");
                dismiss();
                goTo("results");
              }}
            >
              Show them
            </button>
          )}
          <button type="button" class="button" data-kind="quiet" onClick={dismiss}>
            Dismiss
          </button>
        </div>
      )}
    </div>
  );
}
