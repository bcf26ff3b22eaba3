// The bundler has Node's entries import this instead of environment.ts: the same names, loaded when they are first used.
import { checkFolder } from "../judges/cache.js";
import { provideEnvironment } from "../judges/default.js";
import { judgeFromEnvironment } from "../judges/environment.js";
import type * as environment from "./environment.js";

export const fileCache: typeof environment.fileCache = (folder) => {
  checkFolder(folder);
  const cache = async () => (await import("./later.js")).fileCache(folder);
  return {
    get: async (key) => (await cache()).get(key),
    set: async (key, reply) => (await cache()).set(key, reply),
  };
};

export const loadCustomMetrics: typeof environment.loadCustomMetrics = async (...given) =>
  (await import("./later.js")).loadCustomMetrics(...given);

export const useEnvironment: typeof environment.useEnvironment = () => {
  provideEnvironment((model) => judgeFromEnvironment(model, process.env));
};
