/** A turn that was expected but not reached by the agent. */

import { Text } from "../../ui/text.js";
import type { UnreachedTurn } from "../../worker/protocol.js";
import { Call } from "./calls.js";

export function Unreached({ turn: { userText, expected }, index }: { turn: UnreachedTurn; index: number }) {
  const title = `turn-title-${index + 1}`;
  return (
    <section class="turn" id={`turn-${index + 1}`} aria-labelledby={title}>
      <h2 id={title}>Turn {index + 1}: expected only</h2>
      <div class="message user">
        <h3>User</h3>
        <Text>{userText}</Text>
      </div>
      <div class="responses">
        <div class="sides">
          <div class="message expected">
            <h3>Expected response</h3>
            {expected.text === "" ? <p class="muted">No text</p> : <Text>{expected.text}</Text>}
          </div>
          <div class="message agent">
            <h3>Final response</h3>
            <p class="muted">The agent’s run does not have this turn.</p>
          </div>
        </div>
      </div>
      {expected.calls.length > 0 && (
        <section class="calls">
          <h3>Expected tool calls</h3>
          <ol class="plain-calls">
            {expected.calls.map((call, at) => (
              <li key={at}>
                <Call call={call} index={at} />
              </li>
            ))}
          </ol>
        </section>
      )}
    </section>
  );
}
