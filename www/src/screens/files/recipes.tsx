/** How to get what the agent did, where an evalset lacks it. */

import { useSignal } from "@preact/signals";
import { Name } from "../../ui/text.js";

interface Recipe {
  title: string;
  what: string;
  command: string;
}

/** @param name The file of the evalset. */
function recipesFor(name: string): Recipe[] {
  const file = /^[\w.-]+$/.test(name) ? name : "my.evalset.json";
  const stem = file.replace(/(\.evalset|\.test)?\.json$/i, "");
  return [
    {
      title: "A conversation in adk web",
      what: "Talk to the agent in adk web, then save the session from its server and add the file here. The app and the session’s id are in the address of the page.",
      command: "curl http://localhost:8000/apps/my_agent/users/user/sessions/SESSION_ID > my_agent.session.json",
    },
    {
      title: "The history of adk eval",
      what: "adk eval runs the agent and keeps what it did. Add the folder my_agent, or the newest file in my_agent/.adk/eval_history.",
      command: `adk eval my_agent ${file}`,
    },
    {
      title: "An agent in JavaScript or TypeScript",
      what: "adk-metrics runs the agent on the evalset and writes what it did.",
      command: `npx adk-metrics record --agent ./agent.ts ${file} --output ${stem}.actual.json`,
    },
  ];
}

/** Three ways to what the agent did, each with a command to copy. */
export function Recipes({ name }: { name: string }) {
  return (
    <details class="recipes">
      <summary>Where do I get what the agent did?</summary>
      <ol role="list">
        {recipesFor(name).map((recipe) => (
          <li key={recipe.title}>
            <h4>{recipe.title}</h4>
            <p>{recipe.what}</p>
            <Command>{recipe.command}</Command>
          </li>
        ))}
      </ol>
    </details>
  );
}

function Command({ children: command }: { children: string }) {
  const said = useSignal("");
  return (
    <div class="command">
      <pre tabIndex={0}>
        <code>
          <Name>{command}</Name>
        </code>
      </pre>
      <button
        type="button"
        class="button"
        onClick={async () => {
          try {
            await navigator.clipboard.writeText(command);
            said.value = "Copied.";
          } catch {
            said.value = "Select and copy it: this page may not.";
          }
        }}
      >
        Copy
      </button>
      <span role="status" class="muted">
        {said.value}
      </span>
    </div>
  );
}
