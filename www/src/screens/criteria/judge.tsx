import { effect, signal } from "@preact/signals";
import { useId } from "preact/hooks";
import { PROVIDERS } from "virtual:manifest";
import { hasBrowserModel } from "../../state/browser-model.js";
import { asksJudge } from "../../state/config.js";
import { matching } from "../../state/inputs.js";
import {
  askedModels,
  asksModel,
  type Fields,
  fieldsOf,
  isRemembered,
  judgeChoice,
  judgeKind,
  type JudgeKind,
  leftToVertex,
  missing,
  prices,
  serviceChoice,
  setField,
  usesService,
} from "../../state/judge.js";
import { engine } from "../../worker/client.js";
import { sentence } from "../../ui/sentence.js";
import { CheckField, SelectField, TextField } from "./fields.js";

const NAMES: Readonly<Record<JudgeKind, string>> = {
  none: "Nobody",
  recording: "Recorded replies",
  gemini: PROVIDERS.gemini.label,
  vertex: PROVIDERS.vertex.label,
  openai: `${PROVIDERS.openai.label}, or a compatible server`,
  anthropic: PROVIDERS.anthropic.label,
  ollama: `${PROVIDERS.ollama.label}: a model on this machine`,
  browser: "This browser’s own model",
};

/** Where questions go, or why that is not known. */
const place = signal<{ origins?: readonly string[]; problem?: string }>({});

let asked = 0;
effect(() => {
  const choice = asksModel.value || serviceChoice.value === undefined ? judgeChoice.value : ({ kind: "none" } as const);
  const service = serviceChoice.value;
  const mine = (asked += 1);
  if (missing.value !== undefined) {
    place.value = {};
    return;
  }
  void engine.originsOf(choice, service).then((found) => {
    if (mine !== asked) return;
    const { ok } = found;
    place.value = ok
      ? { origins: found.value }
      : { problem: [found.problem.message, found.problem.help].filter((text) => text !== undefined).join(". ") };
  });
});

/** Who judges, with what that provider needs. */
export function JudgePanel() {
  const id = useId();
  const kind = judgeKind.value;
  return (
    <section aria-labelledby={id} class="panel">
      <h2 id={id}>Judge</h2>
      {!asksJudge.value && <p class="muted">None of the chosen metrics asks a judge.</p>}
      <SelectField
        label="Who judges"
        value={kind}
        options={Object.entries(NAMES).map(([value, name]) => ({ value, name }))}
        onChange={(value) => {
          judgeKind.value = value as JudgeKind;
        }}
      />
      <ProviderFields kind={kind} />
      <ServiceFields kind={kind} />
      <p role="status" class={place.value.problem === undefined ? "muted" : "open trouble"}>
        {missing.value ?? (place.value.problem === undefined ? whither(kind) : sentence(place.value.problem))}
      </p>
    </section>
  );
}

function whither(kind: JudgeKind): string {
  const { origins } = place.value;
  if (origins === undefined) return "";
  if (origins.length > 0) return `Questions go to ${origins.join(" and ")}, and nothing goes anywhere else.`;
  return kind === "none" ? "Nothing leaves this page." : "Nothing leaves this device.";
}

/** Makes the text fields of a provider. */
const fieldMaker =
  (kind: JudgeKind) =>
  (name: keyof Fields, label: string, more: Partial<Parameters<typeof TextField>[0]> = {}) => (
    <TextField
      key={`${kind}-${name}`}
      label={label}
      value={fieldsOf(kind)[name]}
      onInput={(value) => setField(kind, name, value as never)}
      {...more}
    />
  );

/** Judges that keep no settings of their own. */
const PLAIN: readonly JudgeKind[] = ["none", "recording", "browser"];

/** The evaluation service of Vertex AI, where the config has metrics for it. */
function ServiceFields({ kind }: { kind: JudgeKind }) {
  if (leftToVertex.value.length === 0) return null;
  return (
    <>
      <CheckField
        label="Have Vertex AI’s evaluation service score what google-adk leaves to it"
        hint={leftToVertex.value.map(({ metricName }) => metricName).join(", ")}
        checked={usesService.value}
        onChange={(checked) => {
          usesService.value = checked;
        }}
      />
      {usesService.value && kind !== "vertex" && (
        <fieldset class="group">
          <legend>Evaluation service</legend>
          <VertexFields />
          {PLAIN.includes(kind) && <Remembered />}
        </fieldset>
      )}
    </>
  );
}

/** Where Vertex AI is, and who asks. */
function VertexFields() {
  const field = fieldMaker("vertex");
  return (
    <>
      {field("project", "Project")}
      {field("location", "Location", { placeholder: "global" })}
      {field("accessToken", "Access token", {
        type: "password",
        hint: "gcloud auth print-access-token prints one; it lasts an hour.",
      })}
      {field("apiKey", "Key", {
        type: "password",
        hint: "Instead of project and token: an API key of express mode.",
      })}
      {field("baseUrl", "Another address", { type: "url" })}
    </>
  );
}

function ProviderFields({ kind }: { kind: JudgeKind }) {
  const fields = fieldsOf(kind);
  const field = fieldMaker(kind);
  const key = (hint?: string) => field("apiKey", "Key", { type: "password", ...(hint === undefined ? {} : { hint }) });
  const model = (placeholder: string) =>
    field("model", "Model", { placeholder, hint: "Empty: the one that the config names, else gemini-2.5-flash." });
  switch (kind) {
    case "none":
      return null;
    case "recording": {
      const { length } = matching.value.recordings;
      return (
        <p class="muted">
          {length === 0
            ? "There is no recording yet."
            : length === 1
              ? "One recording is there."
              : `${length} recordings are there, and are joined.`}
        </p>
      );
    }
    case "browser":
      return (
        <p class="muted">
          {hasBrowserModel
            ? "The browser may download its model first, which takes minutes. It answers one question at a time."
            : "This browser has none that pages can ask. Chrome and Edge on a desktop do."}
        </p>
      );
    case "gemini":
      return (
        <>
          {model("gemini-2.5-flash")}
          {key("From aistudio.google.com/apikey. It is sent to Google alone.")}
          {field("baseUrl", "Another address", {
            type: "url",
            placeholder: PROVIDERS.gemini.origin,
          })}
          <Remembered />
          <PriceFields />
        </>
      );
    case "vertex":
      return (
        <>
          {model("gemini-2.5-flash")}
          <VertexFields />
          <Remembered />
          <PriceFields />
        </>
      );
    case "openai":
      return (
        <>
          {field("model", "Model", { placeholder: "gpt-4.1-mini", hint: "As its server calls it." })}
          {field("baseUrl", "Address", {
            type: "url",
            placeholder: `${PROVIDERS.openai.origin}/v1`,
            hint: "With the version, as in http://127.0.0.1:1234/v1. The server has to allow this page’s origin, and the headers authorization and content-type.",
          })}
          {key("May be left out for a server without keys.")}
          <SelectField
            label="Protocol"
            value={fields.api}
            options={[
              { value: "chat", name: "Chat completions" },
              { value: "responses", name: "Responses" },
            ]}
            onChange={(value) => setField(kind, "api", value as Fields["api"])}
          />
          <Remembered />
          <PriceFields />
        </>
      );
    case "anthropic":
      return (
        <>
          {field("model", "Model", { hint: "As Anthropic calls it." })}
          {key("From console.anthropic.com. It is sent to Anthropic alone.")}
          {field("baseUrl", "Another address", { type: "url", placeholder: PROVIDERS.anthropic.origin })}
          <Remembered />
          <PriceFields />
        </>
      );
    case "ollama":
      return (
        <>
          {field("model", "Model", { placeholder: "llama3.2", hint: "One that was pulled: ollama list names them." })}
          {field("baseUrl", "Address", {
            type: "url",
            placeholder: PROVIDERS.ollama.origin,
            hint: `If Ollama refuses this page, start it with OLLAMA_ORIGINS=${location.origin}.`,
          })}
          <Remembered />
        </>
      );
  }
}

function Remembered() {
  return (
    <CheckField
      label="Remember in this browser"
      hint="Keys and settings are then stored here unencrypted, for whoever uses this browser profile. Otherwise they are gone when the page is closed."
      checked={isRemembered.value}
      onChange={(checked) => {
        isRemembered.value = checked;
      }}
    />
  );
}

/** Prices are the user's to say: they change, and differ by contract. */
function PriceFields() {
  const models = askedModels.value;
  if (models.length === 0) return null;
  return (
    <details>
      <summary>Prices, to see what a run costs</summary>
      {models.map((model) => {
        const now = prices.value[model] ?? { input: "", output: "" };
        const put = (changed: Partial<typeof now>) => {
          prices.value = { ...prices.value, [model]: { ...now, ...changed } };
        };
        return (
          <fieldset class="group" key={model}>
            <legend>
              <code>{model}</code>, for a million tokens
            </legend>
            <div class="two">
              <TextField label="Input" value={now.input} onInput={(input) => put({ input })} />
              <TextField label="Output" value={now.output} onInput={(output) => put({ output })} />
            </div>
          </fieldset>
        );
      })}
    </details>
  );
}
