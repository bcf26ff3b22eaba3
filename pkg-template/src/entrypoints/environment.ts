// What only Node and those that follow it have: an environment with the keys of judges, and files.
import { provideEnvironment } from "../judges/default.js";
import { judgeFromEnvironment } from "../judges/environment.js";

export { fileCache } from "../judges/cache-file.js";

/** Lets judges be made from the environment. */
export function useEnvironment(): void {
  provideEnvironment((model) => judgeFromEnvironment(model, process.env));
}
