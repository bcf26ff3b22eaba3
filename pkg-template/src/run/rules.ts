import { unexpected } from "../engine/values.js";
import type { OptionRule } from "../generated/options.js";

/**
 * The options that rules are about, each read once, with the defaults of those that are absent.
 *
 * @param prefix The text before a name in errors.
 * @throws {AdkMetricsError} `invalid_input` for one that breaks its rule.
 */
export function ruled<T extends object>(options: object, rules: Readonly<Record<string, OptionRule>>, prefix = ""): T {
  const given: Record<string, unknown> = {};
  // A loop, since evaluators that are made for each conversation come here as often.
  for (const name of Object.keys(rules)) {
    const rule = rules[name] as OptionRule;
    const value: unknown = Reflect.get(options, name);
    if (value !== undefined) checkRule(value, rule, prefix + name);
    const used = value === undefined ? rule.default : value;
    if (used !== undefined) given[name] = used;
  }
  return given as T;
}

/** @throws {AdkMetricsError} `invalid_input` for a value that is not what its rule says. */
export function checkRule(value: unknown, rule: OptionRule, path: string): void {
  const { expected, type, words, min = -Infinity, above = -Infinity, max = Infinity, isWhole = false } = rule;
  const isFine =
    typeof value === "number"
      ? value >= min && value <= max && (value > above || above === -Infinity) && (!isWhole || Number.isInteger(value))
      : words === undefined || words.includes(value as string);
  if (typeof value !== type || !isFine) throw unexpected(expected, value, path);
}
