/** Errors about files. */

import { AdkMetricsError } from "../errors.js";
import { definedProperties } from "../lists.js";

/** Does something with the content of files; errors name the file instead of the input that was made of it. */
export async function naming<T>(files: Readonly<Record<string, string>>, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof AdkMetricsError)) throw error;
    const { code, message, path = "evalSet", line, help } = error;
    const [input = "", ...rest] = path.split(": ");
    throw new AdkMetricsError(code, message, {
      path: [files[input] ?? input, ...rest].join(": "),
      ...definedProperties({ line, help }),
      cause: error,
    });
  }
}
