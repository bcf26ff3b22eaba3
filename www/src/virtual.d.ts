/** The texts of the files of each example, by folder and name: one module for each example. */
declare module "virtual:examples" {
  const examples: Readonly<Record<string, () => Promise<{ default: Readonly<Record<string, string>> }>>>;
  export default examples;
}
