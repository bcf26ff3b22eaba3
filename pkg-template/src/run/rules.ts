import { unexpected } from "../engine/input.js";
import type { OptionRule } from "../generated/options.js";

/**
 * The options that rules are about, each read once, with the defaults of those that are absent.
 *
 * @param prefix What stands before a name in errors.
 * @throws {AdkMetricsError} `invalid_input` for one that breaks its rule.
 */
export function ruled<T extends object>(options: object, rules: Readonly<Record<string, OptionRule>>, prefix = ""): T {
  const given = Object.entries(rules).flatMap(([name, rule]) => {
    const value: unknown = Reflect.get(options, name);
    if (value === undefined) return rule.default === undefined ? [] : [[name, rule.default] as const];
    checkRule(value, rule, prefix + name);
    return [[name, value] as const];
  });
  return Object.fromEntries(given) as T;
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
