/** The texts of the examples' files by name, in one module per example, by folder. */
declare module "virtual:examples" {
  const examples: Readonly<Record<string, () => Promise<{ default: Readonly<Record<string, string>> }>>>;
  export default examples;
}

/** Generated from the engine: google-adk's default criteria, its limits, and the form fields of options and judges. */
declare module "virtual:manifest" {
  export const DEFAULT_CRITERIA: Readonly<Record<string, number>>;

  /** The largest file that the engine reads. */
  export const MAX_BYTES: number;

  /** The metrics that google-adk leaves to Vertex AI: what their judge remarks comes among the rubrics. */
  export const WITH_REMARKS: readonly string[];

  /** What metrics without a threshold count, by their names. */
  export const UNITS: Readonly<Record<string, string>>;

  /** An option of runs. */
  interface OptionField {
    readonly label: string;
    readonly least?: number;
    readonly default?: unknown;
    /** Its values and their names, if only these are possible. */
    readonly choices: readonly (readonly [string, string])[];
  }

  type RunOptions = Required<
    Pick<import("adk-metrics").EvaluatorOptions, "concurrency" | "dialect"> & {
      earlyStop: boolean;
    } & Pick<import("adk-metrics").Budget, "calls" | "cost">
  >;

  /** The options of runs that have a title in the engine's contract. */
  export const OPTIONS: { readonly [Name in keyof RunOptions]: OptionField & { readonly default: RunOptions[Name] } };

  type Judges = typeof import("adk-metrics").PROVIDER_JUDGES;
  type ProviderName = keyof Judges;

  /** The options of a provider's judge whose values are strings. */
  type StringOption<Options> = Options extends unknown
    ? {
        [Name in keyof Options]-?: NonNullable<Options[Name]> extends infer Value
          ? [Extract<Value, string>] extends [never]
            ? never
            : Name
          : never;
      }[keyof Options]
    : never;

  /** An option of a judge. */
  interface JudgeField {
    readonly option: { [Name in ProviderName]: StringOption<NonNullable<Parameters<Judges[Name]>[0]>> }[ProviderName];
    /** Whether it is a key or a token. */
    readonly isSecret: boolean;
    readonly label: string;
    readonly placeholder: string;
    readonly hint: string;
    /** Its values and their names, if only these are possible. */
    readonly choices: readonly (readonly [string, string])[];
  }

  interface ProviderForm {
    readonly label: string;
    /** The provider's name in the list of judges. */
    readonly title: string;
    readonly fields: readonly JudgeField[];
    /** Alternatives of required options: one of these sets has to be filled in. */
    readonly needed: readonly (readonly JudgeField["option"][])[];
    /** The message if none is. */
    readonly missing: string;
    /** Whether it has google-adk's default model. */
    readonly hasDefaultModel: boolean;
  }

  export const PROVIDERS: Readonly<Record<ProviderName, ProviderForm>>;
}
