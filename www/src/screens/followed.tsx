/** What happened to the files that are followed. */

import { goTo } from "../route.js";
import { followedNote, readAgain } from "../state/followed.js";
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
          {note.onDisk !== undefined && (
            <button type="button" class="button" onClick={() => void readAgain(note.onDisk ?? [])}>
              Read again, without my edits
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
