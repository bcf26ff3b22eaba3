import { effect, signal, useSignal } from "@preact/signals";
import { useId } from "preact/hooks";
import { type JudgeField, type ProviderName, PROVIDERS } from "virtual:manifest";
import { hasBrowserModel } from "../../state/browser-model.js";
import { asksJudge } from "../../state/config.js";
import { matching } from "../../state/inputs.js";
import {
  askedModels,
  asksModel,
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
import { connections, runProgress } from "../../state/run.js";
import { amountText, count, CURRENCY } from "../../ui/format.js";
import { visibleText } from "../../ui/text.js";
import { engine } from "../../worker/client.js";
import type { JudgeAnswer, Outcome } from "../../worker/protocol.js";
import { sentence } from "../../ui/sentence.js";
import { CheckField, SelectField, TextField } from "./fields.js";

const JUDGE_NAMES: Readonly<Record<JudgeKind, string>> = {
  none: "None",
  recording: "Recorded replies",
  ...(Object.fromEntries(Object.entries(PROVIDERS).map(([kind, { title }]) => [kind, title])) as Record<
    ProviderName,
    string
  >),
  browser: "This browser’s built-in model",
};

/** The servers that questions are sent to, or why they are not known. */
const destination = signal<{ origins?: readonly string[]; problem?: string }>({});

let lastRequest = 0;
effect(() => {
  const choice = asksModel.value || serviceChoice.value === undefined ? judgeChoice.value : ({ kind: "none" } as const);
  const service = serviceChoice.value;
  const request = (lastRequest += 1);
  if (missing.value !== undefined) {
    destination.value = {};
    return;
  }
  void engine.originsOf(choice, service).then((outcome) => {
    if (request !== lastRequest) return;
    const { ok } = outcome;
    destination.value = ok
      ? { origins: outcome.value }
      : { problem: [outcome.problem.message, outcome.problem.help].filter((text) => text !== undefined).join(". ") };
  });
});

/** The choice of a judge, with the settings of its provider. */
export function JudgePanel() {
  const id = useId();
  const kind = judgeKind.value;
  return (
    <section aria-labelledby={id} class="panel">
      <h2 id={id}>Judge</h2>
      {!asksJudge.value && <p class="muted">None of the chosen metrics asks a judge.</p>}
      <SelectField
        label="Provider"
        value={kind}
        options={Object.entries(JUDGE_NAMES).map(([value, name]) => ({ value, name }))}
        onChange={(value) => {
          judgeKind.value = value as JudgeKind;
        }}
      />
      <ProviderFields kind={kind} />
      <ServiceFields kind={kind} />
      <p role="status" class={destination.value.problem === undefined ? "muted" : "open trouble"}>
        {missing.value ??
          (destination.value.problem === undefined ? destinationText(kind) : sentence(destination.value.problem))}
      </p>
      {kind !== "none" && kind !== "recording" && <TestButton key={kind} />}
    </section>
  );
}

/** Asks the judge one question before a run asks many. */
function TestButton() {
  const isAsking = useSignal(false);
  const outcome = useSignal<Outcome<JudgeAnswer> | undefined>(undefined);
  const isReady = missing.value === undefined && destination.value.problem === undefined;
  async function ask(): Promise<void> {
    isAsking.value = true;
    outcome.value = undefined;
    const own = fieldsOf(judgeKind.value).model.trim();
    const [named] = askedModels.value;
    outcome.value = await engine.testJudge(judgeChoice.value, own === "" ? named : undefined);
    connections.value = await engine.connections();
    isAsking.value = false;
  }
  return (
    <div class="actions">
      <button
        type="button"
        class="button"
        aria-disabled={!isReady || isAsking.value || runProgress.value !== undefined}
        onClick={() => {
          if (isReady && !isAsking.value && runProgress.value === undefined) void ask();
        }}
      >
        {isAsking.value ? "Asking…" : "Test this judge"}
      </button>
      <p role="status" class={outcome.value?.ok === false ? "failed trouble" : "muted"}>
        {outcome.value !== undefined && testText(outcome.value)}
      </p>
    </div>
  );
}

function testText(outcome: Outcome<JudgeAnswer>): string {
  if (!outcome.ok) {
    const { message, help } = outcome.problem;
    const texts = [message, ...(help === undefined ? [] : [help])];
    // The field of the form that the option of the package is.
    return texts.map((text) => visibleText(sentence(text.replaceAll("`baseUrl`", "Address")))).join(" ");
  }
  const { ms, model, isRight, inputTokens, outputTokens } = outcome.value;
  const parts = [
    `${model === undefined ? "The judge" : visibleText(model)} answered in ${(ms / 1000).toFixed(1)} s`,
    ...(inputTokens === undefined || outputTokens === undefined
      ? []
      : [`${count(inputTokens, "token")} in, ${amountText(outputTokens)} out`]),
  ];
  return `${parts.join(": ")}.${isRight ? "" : " But it called a right answer wrong: it may be too small to judge."}`;
}

function destinationText(kind: JudgeKind): string {
  const { origins } = destination.value;
  if (origins === undefined) return "";
  if (origins.length > 0) return `Questions go to ${origins.join(" and ")}, and nowhere else.`;
  return kind === "none" ? "Nothing leaves this page." : "Nothing leaves this device.";
}

/** The form fields of a provider, as the engine describes them. */
function ProviderForm({ kind, except = [] }: { kind: ProviderName; except?: readonly JudgeField["option"][] }) {
  const fields = fieldsOf(kind);
  return (
    <>
      {PROVIDERS[kind].fields
        .filter(({ option }) => !except.includes(option))
        .map(({ option, label, placeholder, hint: text, choices, isSecret }) => {
          const key = `${kind}-${option}`;
          const hint = text.replace("{origin}", location.origin);
          // Without a choice, the first applies.
          const value = fields[option] === "" ? (choices[0]?.[0] ?? "") : fields[option];
          const common = { label, hint, value };
          const update = (value: string) => setField(kind, option, value);
          const options = choices.map(([value, name]) => ({ value, name }));
          if (options.length > 0) return <SelectField key={key} {...common} options={options} onChange={update} />;
          const type = isSecret ? "password" : option === "baseUrl" ? "url" : "text";
          return <TextField key={key} {...common} type={type} placeholder={placeholder} onInput={update} />;
        })}
    </>
  );
}

/** Judges without settings. */
const KINDS_WITHOUT_SETTINGS: readonly JudgeKind[] = ["none", "recording", "browser"];

/** The settings of Vertex AI's evaluation service, if the config has metrics for it. */
function ServiceFields({ kind }: { kind: JudgeKind }) {
  if (leftToVertex.value.length === 0) return null;
  return (
    <>
      <CheckField
        label="Use Vertex AI for these metrics"
        hint={leftToVertex.value.map(({ metricName }) => metricName).join(", ")}
        checked={usesService.value}
        onChange={(checked) => {
          usesService.value = checked;
        }}
      />
      {usesService.value && kind !== "vertex" && (
        <fieldset class="group">
          <legend>Evaluation service</legend>
          <ProviderForm kind="vertex" except={["model"]} />
          {KINDS_WITHOUT_SETTINGS.includes(kind) && <RememberField />}
        </fieldset>
      )}
    </>
  );
}

function ProviderFields({ kind }: { kind: JudgeKind }) {
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
              ? "There is one recording."
              : `${length} recordings, which are joined.`}
        </p>
      );
    }
    case "browser":
      return (
        <p class="muted">
          {hasBrowserModel
            ? "The browser may download its model first, which takes minutes. It answers one question at a time."
            : "This browser has no model that pages can use. Chrome and Edge on a desktop have one."}
        </p>
      );
    default:
      return (
        <>
          <ProviderForm kind={kind} />
          <RememberField />
          {PROVIDERS[kind].fields.some(({ isSecret }) => isSecret) && <PriceFields />}
        </>
      );
  }
}

function RememberField() {
  return (
    <CheckField
      label="Remember in this browser"
      hint="Keys and settings are then stored here unencrypted, for anyone who uses this browser profile. Otherwise they are gone when the page is closed."
      checked={isRemembered.value}
      onChange={(checked) => {
        isRemembered.value = checked;
      }}
    />
  );
}

/** Prices are entered by the user, since they change and differ by contract. */
function PriceFields() {
  const models = askedModels.value;
  if (models.length === 0) return null;
  return (
    <details>
      <summary>Prices, to estimate what a run costs</summary>
      {models.map((model) => {
        const entered = prices.value[model] ?? { input: "", output: "" };
        const update = (changes: Partial<typeof entered>) => {
          prices.value = { ...prices.value, [model]: { ...entered, ...changes } };
        };
        return (
          <fieldset class="group" key={model}>
            <legend>
              <code>{model}</code>, in {CURRENCY} per million tokens
            </legend>
            <div class="two-columns">
              <TextField label="Input" value={entered.input} onInput={(input) => update({ input })} />
              <TextField label="Output" value={entered.output} onInput={(output) => update({ output })} />
            </div>
          </fieldset>
        );
      })}
    </details>
  );
}
