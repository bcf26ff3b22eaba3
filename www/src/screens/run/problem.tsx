import { hrefOf } from "../../route.js";
import { sentence } from "../../ui/sentence.js";
import type { Problem } from "../../worker/protocol.js";

/** An error with its location and a link to correct it. */
export function ProblemNote({ problem }: { problem: Problem }) {
  const { message, path, line, help } = problem;
  const place = [path, line === undefined ? undefined : `line ${line}`].filter((part) => part !== undefined).join(", ");
  const isConfig = path?.startsWith("config") === true;
  return (
    <div class="note failed" role="alert">
      <p>
        <strong>{sentence(message)}</strong>
        {help !== undefined && ` ${sentence(help)}`}
      </p>
      {place !== "" && (
        <p>
          <code>{place}</code>
        </p>
      )}
      {(isConfig || path !== undefined) && (
        <p>
          <a href={isConfig ? hrefOf("criteria", "json") : hrefOf("files")}>
            {isConfig ? "Correct the config" : "Go to the files"}
          </a>
        </p>
      )}
    </div>
  );
}
