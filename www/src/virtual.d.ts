/** The texts of the files of each example, by folder and name: one module for each example. */
declare module "virtual:examples" {
  const examples: Readonly<Record<string, () => Promise<{ default: Readonly<Record<string, string>> }>>>;
  export default examples;
}

/** What the engine lists: google-adk's criteria where there is no config, and the providers of models. */
declare module "virtual:manifest" {
  export const DEFAULT_CRITERIA: Readonly<Record<string, number>>;
  export const PROVIDERS: Readonly<
    Record<"gemini" | "vertex" | "openai" | "anthropic" | "ollama", { label: string; origin: string }>
  >;
}
