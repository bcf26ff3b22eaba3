import { closest } from "../closest.js";
import { isObject, reading, unexpected } from "../engine/input.js";
import { AdkMetricsError } from "../errors.js";

/**
 * A copy of options, each read once, and checked for keys that are none: a misspelt one would be without effect.
 *
 * @throws {AdkMetricsError} `invalid_input` that names the key, never its value.
 */
export function optionsOf<T extends object>(options: T, known: readonly (keyof T & string)[]): T {
  if (!isObject(options)) throw unexpected("an object", options, "options");
  return reading("options", () => {
    for (const key of Object.keys(options)) {
      if ((known as readonly string[]).includes(key)) continue;
      const meant = closest(key, known);
      throw new AdkMetricsError("invalid_input", `there is no option \`${key}\``, {
        path: `options: ${key}`,
        help: meant === undefined ? `The options are ${known.join(", ")}` : `Did you mean \`${meant}\`?`,
      });
    }
    return { ...options };
  });
}
