import config from "../../../../examples/museum-guide/test_config.json?raw";
import evalSet from "../../../../examples/museum-guide/museum-guide.evalset.json?url";
import actual from "../../../../examples/museum-guide/museum-guide.actual.json?url";
import recording from "../../../../examples/museum-guide/judge.jsonl?url";
import { goTo } from "../../route.js";
import { start } from "../../state/run.js";

export default function Files() {
  return (
    <>
      <h1>Files</h1>
      <button
        class="button"
        data-kind="primary"
        onClick={async () => {
          const scored = await start({
            pairs: [{ evalSet: await fetched(evalSet), actual: await fetched(actual) }],
            config,
            judge: { kind: "recording", text: await (await fetch(recording)).text() },
          });
          if (scored) goTo("results");
        }}
      >
        Score the example
      </button>
    </>
  );
}

async function fetched(url: string) {
  const bytes = new Uint8Array(await (await fetch(url)).arrayBuffer());
  return { name: url.split("/").at(-1) ?? url, bytes };
}
