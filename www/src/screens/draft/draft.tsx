/** An evalset made of what an agent did: which conversations and turns, and what is expected of them. */

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { goTo, hrefOf, route } from "../../route.js";
import { add, setActual, setRole, type Source, sourceOf } from "../../state/inputs.js";
import { count, head } from "../../ui/format.js";
import { More } from "../../ui/more.js";
import { sentence } from "../../ui/sentence.js";
import { Name, Text, visibleText } from "../../ui/text.js";
import { Title } from "../../ui/title.js";
import { engine } from "../../worker/client.js";
import type { Conversation, Problem } from "../../worker/protocol.js";
import { CheckField, TextField } from "../criteria/fields.js";
import "../../styles/inputs.css";
import "./draft.css";

export default function Draft() {
  const source = sourceOf(Number(route.value.rest[0]));
  if (source !== undefined) return <DraftOf key={source.id} source={source} />;
  return (
    <>
      <Title>New evalset</Title>
      <p class="muted">
        An evalset can be made of a session, a trace or results. <a href={hrefOf("files")}>Add one to the files</a>
      </p>
    </>
  );
}

/** How many conversations are shown at first and added at a time. */
const CASES_PER_PAGE = 25;

function DraftOf({ source }: { source: Source }) {
  const { name, bytes, folder, id } = source;
  const found = useSignal<readonly Conversation[] | undefined>(undefined);
  const problem = useSignal<Problem | undefined>(undefined);
  /** The turns that become part of the evalset, by conversation. */
  const chosen = useSignal<readonly (readonly number[])[]>([]);
  const evalSetId = useSignal(stemOf(name));
  const expectsAnswers = useSignal(true);
  const expectsCalls = useSignal(true);
  const rubrics = useSignal("");
  const limit = useSignal(CASES_PER_PAGE);
  useEffect(() => {
    let isCurrent = true;
    void engine.conversationsIn({ name, bytes }).then((outcome) => {
      if (!isCurrent) return;
      if (!outcome.ok) {
        problem.value = outcome.problem;
        return;
      }
      found.value = outcome.value;
      chosen.value = outcome.value.map(({ turns }) => [...turns.keys()]);
    });
    return () => {
      isCurrent = false;
    };
  }, [bytes]);
  const cases = chosen.value.flatMap((turns, place) => (turns.length > 0 ? [{ place, turns }] : []));
  const isPartial = cases.some(({ place, turns }) => turns.length < (found.value?.[place]?.turns.length ?? 0));

  async function make(): Promise<void> {
    const outcome = await engine.evalSetFrom(
      { name, bytes },
      {
        evalSetId: evalSetId.value.trim(),
        cases,
        expectsAnswers: expectsAnswers.value,
        expectsCalls: expectsCalls.value,
        rubrics: rubrics.value
          .split("\n")
          .map((line) => line.trim())
          .filter((line) => line !== ""),
      },
    );
    if (!outcome.ok) {
      problem.value = outcome.problem;
      return;
    }
    const [made] = await add([{ ...outcome.value, folder, isEdited: true }]);
    if (made === undefined) return;
    setRole(id, "actual");
    setActual(made.id, id);
    goTo("edit", made.id);
  }

  return (
    <div class="draft">
      <p>
        <a href={hrefOf("files")}>← All files</a>
      </p>
      <Title>New evalset</Title>
      <p class="muted">
        From <Name>{name}</Name>: choose what becomes a case, and what is expected from now on. You can edit all of it
        afterwards.
      </p>
      {problem.value !== undefined && (
        <p class="note failed" role="alert">
          {visibleText(sentence(problem.value.message))}{" "}
          {problem.value.help !== undefined && visibleText(sentence(problem.value.help))}
        </p>
      )}
      {found.value === undefined ? (
        problem.value === undefined && <p class="muted">Loading…</p>
      ) : (
        <div class="draft-body">
          <section aria-labelledby="draft-turns">
            <h2 id="draft-turns">Conversations and turns</h2>
            <ol role="list">
              {found.value.slice(0, limit.value).map((conversation, place) => (
                <ConversationChoice
                  key={place}
                  conversation={conversation}
                  chosen={chosen.value[place] ?? []}
                  choose={(turns) => {
                    chosen.value = chosen.value.with(place, turns);
                  }}
                />
              ))}
            </ol>
            <More limit={limit} total={found.value.length} step={CASES_PER_PAGE} noun="conversation" />
          </section>
          <section class="panel" aria-labelledby="draft-expected">
            <h2 id="draft-expected">What is expected</h2>
            <TextField
              label="Id of the evalset"
              value={evalSetId.value}
              onInput={(value) => {
                evalSetId.value = value;
              }}
            />
            <CheckField
              label="The agent’s answers"
              hint="For response_match_score and final_response_match_v2"
              checked={expectsAnswers.value}
              onChange={(value) => {
                expectsAnswers.value = value;
              }}
            />
            <CheckField
              label="The agent’s tool calls"
              hint="For tool_trajectory_avg_score"
              checked={expectsCalls.value}
              onChange={(value) => {
                expectsCalls.value = value;
              }}
            />
            <label class="choice">
              <span class="caption">Rubrics</span>
              <textarea
                class="field"
                rows={3}
                value={rubrics.value}
                aria-describedby="rubrics-hint"
                onInput={({ currentTarget }) => {
                  rubrics.value = currentTarget.value;
                }}
              />
              <span class="hint" id="rubrics-hint">
                What answers have to fulfil, one a line, for every case
              </span>
            </label>
            <div class="actions">
              <button
                type="button"
                class="button"
                data-kind="primary"
                disabled={cases.length === 0 || evalSetId.value.trim() === ""}
                onClick={() => void make()}
              >
                Make an evalset of {count(cases.length, "case")}
              </button>
            </div>
            {isPartial && (
              <p class="muted">
                Some turns are left out, so those cases can be scored with new runs of the agent only, not with this
                one.
              </p>
            )}
          </section>
        </div>
      )}
    </div>
  );
}

interface ChoiceProps {
  conversation: Conversation;
  chosen: readonly number[];
  choose(turns: readonly number[]): void;
}

/** How much of a text is shown. */
const EXCERPT = 300;

function ConversationChoice({ conversation: { evalId, turns }, chosen, choose }: ChoiceProps) {
  const toggle = (turn: number, isChosen: boolean) =>
    choose(isChosen ? [...chosen, turn].sort((a, b) => a - b) : chosen.filter((one) => one !== turn));
  return (
    <li>
      <label class="draft-case">
        <input
          type="checkbox"
          checked={chosen.length > 0}
          onChange={({ currentTarget }) => choose(currentTarget.checked ? [...turns.keys()] : [])}
        />{" "}
        <b>
          <Name>{evalId}</Name>
        </b>
      </label>
      <ol role="list" aria-label={`Turns of ${visibleText(head(evalId, 100))}`}>
        {turns.map(({ user, answer, calls }, turn) => (
          <li key={turn}>
            <label>
              <input
                type="checkbox"
                checked={chosen.includes(turn)}
                aria-label={`Turn ${turn + 1}`}
                onChange={({ currentTarget }) => toggle(turn, currentTarget.checked)}
              />
              <span>
                <Text fold={EXCERPT}>{user}</Text>
                <span class="muted">
                  <Text fold={EXCERPT}>{answer === "" ? "No text" : answer}</Text>
                  {calls.length > 0 && visibleText(head(`calls ${calls.join(", ")}`, EXCERPT))}
                </span>
              </span>
            </label>
          </li>
        ))}
      </ol>
    </li>
  );
}

function stemOf(name: string): string {
  return name.replace(/([._-](session|actual|evalset_result|inferences|traces?))?\.jsonl?$/i, "");
}
