import { hrefOf } from "../../route.js";
import { activeConfig } from "../../state/active-config.js";
import {
  KIND_NAMES,
  matching,
  remove,
  setActual,
  setRole,
  type Source,
  sourceOf,
  sources,
} from "../../state/inputs.js";
import { type Match, type Role, rolesOf } from "../../state/matching.js";
import { count } from "../../ui/format.js";
import { Name } from "../../ui/text.js";
import { sentence } from "../../ui/sentence.js";
import { Recipes } from "./recipes.js";
import type { FileKind, Problem } from "../../worker/protocol.js";

const ROLE_NAMES: Readonly<Record<Role, string>> = {
  expected: "What is expected",
  actual: "Agent run",
  config: "Config",
  recording: "Judge’s replies",
  none: "Not used",
};

/** The kinds of files whose conversations can become cases. */
const CONVERSATIONS: readonly (FileKind | undefined)[] = ["session", "traces", "results", "inferences"];

/** The files with their roles and pairs. Both can be changed. */
export function Pairs() {
  const { pairs, configs, recordings, rest } = matching.value;
  const others = [...configs, ...recordings, ...rest];
  const known = new Set([...others, ...pairs.flatMap(({ expected, actual }) => [expected, actual])]);
  const unpairedIds = [...others, ...sources.value.filter(({ id }) => !known.has(id)).map(({ id }) => id)];
  return (
    <div class="pairs">
      <ul role="list" class="matches">
        {pairs.map((pair) => (
          <Pair key={`${pair.expected}/${pair.actual}`} pair={pair} />
        ))}
      </ul>
      {unpairedIds.length > 0 && (
        <ul role="list" class="other-files" aria-label="Other files">
          {unpairedIds.map((id) => {
            const source = sourceOf(id);
            return (
              source !== undefined && (
                <li key={id} class="row">
                  <FileLine source={source} />
                  <RoleChoice source={source} />
                </li>
              )
            );
          })}
        </ul>
      )}
    </div>
  );
}

function Pair({ pair }: { pair: Match }) {
  const expected = pair.expected === "own" ? undefined : sourceOf(pair.expected);
  const actual = sourceOf(pair.actual);
  const candidates = sources.value.filter((source) => source.id !== expected?.id && rolesOf(source).includes("actual"));
  return (
    <li class="match">
      <div class="match-side">
        <h3>What is expected</h3>
        {expected === undefined ? (
          <p>What the results say was expected</p>
        ) : (
          <>
            <FileLine source={expected} />
            <RoleChoice source={expected} />
          </>
        )}
      </div>
      <div class="match-side">
        <h3>Agent run</h3>
        {actual === undefined ? (
          <p class="failed missing">No agent run yet: add it, or choose it here.</p>
        ) : (
          <FileLine source={actual} />
        )}
        {expected !== undefined && (
          <label class="file-choice">
            <span class="visually-hidden">Agent run for {expected.name}</span>
            <select
              class="field"
              value={actual === undefined ? "" : String(actual.id)}
              onChange={({ currentTarget: { value } }) => setActual(expected.id, value === "" ? null : Number(value))}
            >
              <option value="">Nothing</option>
              {candidates.map(({ id, name, folder }) => (
                <option key={id} value={String(id)}>
                  {folder === "" ? name : `${folder}/${name}`}
                </option>
              ))}
            </select>
          </label>
        )}
        {expected === undefined && actual !== undefined && <RoleChoice source={actual} />}
        {actual === undefined && expected !== undefined && <Recipes name={expected.name} />}
      </div>
    </li>
  );
}

function FileLine({ source }: { source: Source }) {
  const { id, name, folder, info, isEdited } = source;
  return (
    <div class="line">
      <p>
        <a
          href={
            matching.value.configs.includes(id) && activeConfig.value === id
              ? hrefOf("criteria", "json")
              : hrefOf("files", id)
          }
          class="file-name"
        >
          <Name>{name}</Name>
        </a>{" "}
        <span class="muted">
          {info === undefined ? "…" : KIND_NAMES[info.kind]}
          {info?.isOld && " in ADK’s old format"}
          {countsText(source)}
          {folder !== "" && ` · ${folder}`}
          {isEdited && " · not saved as a file"}
        </span>
        {CONVERSATIONS.includes(info?.kind) && info?.problem === undefined && (
          <>
            {" "}
            <a href={hrefOf("draft", id)}>
              Make an evalset<span class="visually-hidden"> of {name}</span>
            </a>
          </>
        )}
      </p>
      <button
        type="button"
        class="button icon"
        data-kind="quiet"
        aria-label={`Remove ${name}`}
        onClick={() => remove(id)}
      >
        <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
          <path d="M4 4l8 8M12 4l-8 8" fill="none" stroke="currentColor" stroke-width="1.5" stroke-linecap="round" />
        </svg>
      </button>
      {info?.notice !== undefined && <p class="muted">{sentence(info.notice)}</p>}
      {info?.problem !== undefined && (
        <p class="failed trouble">
          <span>
            {sentence(info.problem.message)} {info.problem.help !== undefined && sentence(info.problem.help)}{" "}
            <span class="muted">{locationText(info.problem)}</span>
          </span>{" "}
          <a href={hrefOf("files", id)}>Correct it</a>
        </p>
      )}
    </div>
  );
}

function locationText({ path, line }: Problem): string {
  const words = [path, line === undefined ? undefined : `line ${line}`].filter((part) => part !== undefined);
  return words.length === 0 ? "" : `At ${words.join(", ")}.`;
}

function countsText({ info }: Source): string {
  if (info === undefined) return "";
  const { evalIds, turns, kind, isOld = false } = info;
  // A list of turns is one case, which is called after its file.
  const cases = evalIds.length === 0 && isOld && turns > 0 ? 1 : evalIds.length;
  const parts = [
    cases > 0 ? count(cases, kind === "evalset" ? "case" : "run") : "",
    turns > 0 ? count(turns, kind === "recording" ? "reply" : "turn") : "",
  ].filter((part) => part !== "");
  return parts.length === 0 ? "" : ` · ${parts.join(", ")}`;
}

function RoleChoice({ source }: { source: Source }) {
  const roles = rolesOf(source);
  const current = currentRole(source.id);
  return (
    <label class="file-choice">
      <span class="visually-hidden">What {source.name} is for</span>
      <select
        class="field"
        value={current}
        onChange={({ currentTarget }) => setRole(source.id, currentTarget.value as Role)}
      >
        {roles.map((role) => (
          <option key={role} value={role}>
            {ROLE_NAMES[role]}
          </option>
        ))}
      </select>
    </label>
  );
}

function currentRole(id: number): Role {
  const { pairs, configs, recordings } = matching.value;
  if (pairs.some(({ expected }) => expected === id)) return "expected";
  if (pairs.some(({ actual }) => actual === id)) return "actual";
  if (configs.includes(id)) return "config";
  return recordings.includes(id) ? "recording" : "none";
}
