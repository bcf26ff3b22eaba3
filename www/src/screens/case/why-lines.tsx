import { useMemo } from "preact/hooks";
import { Status, toneOf } from "../../ui/status.js";
import { MetricName, Text } from "../../ui/text.js";
import type { CaseContent } from "../../worker/protocol.js";
import { needs, type Why, whyOf } from "./why.js";

/** Why a case did not pass: a line for each metric. */
export function WhyLines({ content }: { content: CaseContent }) {
  const lines = useMemo(() => whyOf(content), [content]);
  // A run that failed says so itself.
  const shown = lines.filter(({ what }) => what.join() !== content.result.reason);
  if (shown.length === 0) return null;
  return (
    <ul class="why" role="list" aria-label="Why it did not pass">
      {shown.map((why) => (
        <li key={why.metricName} class={toneOf(why.status)}>
          <Status of={why.status} />
          <p>
            <b>
              <MetricName>{why.metricName}</MetricName>
            </b>{" "}
            <span class="muted">{[needs(why), turnsText(why)].filter((part) => part !== undefined).join(", ")}</span>
          </p>
          {why.what.length > 0 && <Text fold={400}>{why.what.join("\n")}</Text>}
        </li>
      ))}
    </ul>
  );
}

function turnsText({ turns }: Why): string | undefined {
  if (turns.length === 0) return undefined;
  if (turns.length > 5) return `in ${turns.length} turns`;
  return `in turn${turns.length === 1 ? "" : "s"} ${turns.join(", ")}`;
}
