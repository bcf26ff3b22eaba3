/**
 * JSON of plain values, written and checked in one walk: all of a value, or only the fields of records that are read. What is
 * not plain (NaN, cycles, halves of surrogate pairs, what has a `toJSON`, getters that throw) is left to `stringify`, which
 * takes several times as long and names the place.
 */

import { MAX_DEPTH } from "../generated/limits.js";
import { snakeOf } from "./spelling.js";

/** Fields by their keys: 1 if all of a value is read, 0 if nothing is; JSON to write instead, if the field is required. */
export interface Fields {
  readonly [key: string]: Fields | 0 | 1 | string;
}

/** The fields of a record by both spellings of their keys; those that are not read are there without what to write. */
interface Level {
  /** Whether values of unknown keys are written too, and not only a sign that they are there. */
  readonly writesOthers: boolean;
  readonly fields: ReadonlyMap<string, Field | null>;
  /** Stands in each record for fields that are not read and have to be there. */
  readonly always: string;
}

/** A field that is written: its key as JSON, and what of its value. */
interface Field {
  readonly key: string;
  readonly level: Level | undefined;
}

/** What {@link PlainJson} writes of records of this kind. */
export type FieldsToWrite = Level;

/** The fields of a record, made ready for use. */
export function fieldsToWrite(given: Fields): FieldsToWrite {
  const always = Object.entries(given).flatMap(([key, of]) => (typeof of === "string" ? [`"${key}":${of}`] : []));
  const fields = Object.entries(given).flatMap(([key, of]) => {
    const isRead = of === 1 || typeof of === "object";
    return bothSpellings(key, isRead ? fieldOf(of === 1 ? undefined : fieldsToWrite(of)) : () => null);
  });
  return { writesOthers: false, fields: new Map(fields), always: always.join(",") };
}

/** A record that is written whole, except for the values of some keys, which are written by their fields. */
export function allButIn(given: Readonly<Record<string, FieldsToWrite>>): FieldsToWrite {
  const fields = Object.entries(given).flatMap(([key, level]) => bothSpellings(key, fieldOf(level)));
  return { writesOthers: true, fields: new Map(fields), always: "" };
}

/** A record that is written whole, except for the value of one key, which is not read. */
export function allBut(key: string): FieldsToWrite {
  return { writesOthers: true, fields: new Map([[key, null]]), always: "" };
}

function fieldOf(level: Level | undefined): (key: string) => Field {
  return (key) => ({ key: `"${key}":`, level });
}

function bothSpellings(camel: string, make: (key: string) => Field | null): [string, Field | null][] {
  return [camel, snakeOf(camel)].map((key) => [key, make(key)]);
}

/** Fields that are in one of these or the other. */
export function mergedFields(all: readonly Fields[]): Fields {
  const merged: Record<string, Fields[string]> = {};
  for (const fields of all) {
    for (const [key, of] of Object.entries(fields)) {
      const known = merged[key] ?? 0;
      merged[key] = typeof known === "object" && typeof of === "object" ? mergedFields([known, of]) : more(known, of);
    }
  }
  return merged;
}

/** Which of two ways to write a field writes more. */
function more(a: Fields[string], b: Fields[string]): Fields[string] {
  const rank = (of: Fields[string]) => (of === 1 ? 3 : typeof of === "object" ? 2 : of === 0 ? 0 : 1);
  return rank(a) >= rank(b) ? a : b;
}

/** Something that is not plain. */
const ODD = Symbol("odd");

/** How deep this walks: less than what is refused, so that `stringify` says where it is. */
const DEEPEST = MAX_DEPTH - 10;

/** Writes plain values, up to a number of values and characters in all. */
export class PlainJson {
  /** How many values were written. */
  values = 0;
  /** How many characters of strings were written. */
  characters = 0;
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  /** Whether there was more. */
  get isFull(): boolean {
    return this.values + this.characters > this.#most;
  }

  /**
   * A value as JSON, as `JSON.stringify` writes it; of records only what is read, if fields are given, and what shows that
   * there are unknown keys.
   *
   * @returns Nothing if it is not plain, or too much.
   */
  write(value: unknown, fields?: FieldsToWrite): string | undefined {
    try {
      const json = this.#json(value, fields, 0);
      // How `JSON.stringify` writes half of a surrogate pair.
      return json?.includes("\\ud") === true ? undefined : json;
    } catch {
      return undefined;
    }
  }

  /** A value as JSON; nothing for what `JSON.stringify` leaves out. */
  #json(value: unknown, level: Level | undefined, depth: number): string | undefined {
    if (level === undefined || typeof value !== "object" || value === null) {
      this.#check(value, depth);
      return JSON.stringify(value) as string | undefined;
    }
    this.#count(depth);
    let json = "";
    if (Array.isArray(value)) {
      refuseToJson(value);
      for (let at = 0; at < value.length; at += 1) {
        json += `${at === 0 ? "" : ","}${this.#json(value[at], level, depth + 1) ?? "null"}`;
      }
      return `[${json}]`;
    }
    refuseUnlessRecord(value);
    json = level.always;
    for (const key of Object.keys(value)) {
      const field = level.fields.get(key);
      if (field === null) continue;
      const part = (value as Record<string, unknown>)[key];
      const written =
        field === undefined && !level.writesOthers ? signOf(part) : this.#json(part, field?.level, depth + 1);
      if (written !== undefined)
        json += `${json === "" ? "" : ","}${field?.key ?? `${JSON.stringify(key)}:`}${written}`;
    }
    return `{${json}}`;
  }

  /** Makes sure that `JSON.stringify` loses nothing of a value. */
  #check(value: unknown, depth: number): void {
    if (typeof value === "string") this.characters += value.length;
    this.#count(depth);
    switch (typeof value) {
      case "number":
        if (!Number.isFinite(value)) throw ODD;
        break;
      case "bigint":
        throw ODD;
      case "function":
        refuseToJson(value);
        break;
      case "object":
        if (value !== null) this.#checkParts(value, depth);
    }
  }

  #checkParts(value: object, depth: number): void {
    if (Array.isArray(value)) {
      refuseToJson(value);
      for (let at = 0; at < value.length; at += 1) this.#check(value[at], depth + 1);
      return;
    }
    refuseUnlessRecord(value);
    // Keys that are inherited are looked at too, which costs nothing where there are none.
    for (const key in value) this.#check((value as Record<string, unknown>)[key], depth + 1);
  }

  /** Counts a value, before what is in it. */
  #count(depth: number): void {
    this.values += 1;
    if (this.isFull || depth > DEEPEST) throw ODD;
  }
}

/** The value written for an unknown key: the engine only asks whether there is one, and whether it is a string. */
export function signOf(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  return typeof value === "string" ? '""' : "0";
}

/** Whether `JSON.stringify` writes an object by its items or its keys. */
export function isByParts(value: object): boolean {
  try {
    if (Array.isArray(value)) refuseToJson(value);
    else refuseUnlessRecord(value);
    return true;
  } catch {
    return false;
  }
}

function refuseToJson(value: object): void {
  if (typeof (value as { toJSON?: unknown }).toJSON === "function") throw ODD;
}

/** Refuses what `JSON.stringify` does not write by its keys: wrappers of primitives, raw JSON, what has a `toJSON`. */
function refuseUnlessRecord(value: object): void {
  refuseToJson(value);
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype) return;
  if (prototype === null ? "rawJSON" in value : Object.prototype.toString.call(value) !== "[object Object]") throw ODD;
}
