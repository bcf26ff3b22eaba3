/** The texts of the files of each example, by folder and name: one module for each example. */
declare module "virtual:examples" {
  const examples: Readonly<Record<string, () => Promise<{ default: Readonly<Record<string, string>> }>>>;
  export default examples;
}

/** What the engine lists: google-adk's criteria where there is no config, and how forms ask for options and judges. */
declare module "virtual:manifest" {
  export const DEFAULT_CRITERIA: Readonly<Record<string, number>>;

  /** An option of runs. */
  interface OptionField {
    readonly label: string;
    readonly least?: number;
    readonly default?: unknown;
    /** Its values and their names, if only these are possible. */
    readonly choices: readonly (readonly [string, string])[];
  }

  export const OPTIONS: Readonly<
    Record<"concurrency" | "calls" | "cost", OptionField & { default: number }> &
      Record<"dialect", OptionField & { default: "adk-python" }> &
      Record<"earlyStop", OptionField & { default: boolean }>
  >;

  type ProviderName = "gemini" | "vertex" | "openai" | "anthropic" | "ollama";

  /** An option of a judge. */
  interface JudgeField {
    readonly option: "model" | "baseUrl" | "apiKey" | "api" | "project" | "location" | "accessToken";
    readonly label: string;
    readonly placeholder: string;
    readonly hint: string;
    /** Its values and their names, if only these are possible. */
    readonly choices: readonly (readonly [string, string])[];
  }

  interface ProviderForm {
    readonly label: string;
    /** What the choice of a judge calls the provider. */
    readonly title: string;
    readonly fields: readonly JudgeField[];
    /** Sets of options, of which one has to be given. */
    readonly needed: readonly (readonly JudgeField["option"][])[];
    /** What to say if none is. */
    readonly missing: string;
  }

  export const PROVIDERS: Readonly<Record<ProviderName, ProviderForm>>;
}
