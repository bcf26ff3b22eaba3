// Inputs that only JSON text can express: what reading the text already decides before an evaluator sees it.

import { ROUGE } from "./rouge-cases.mjs";
import { TRAJECTORY } from "./trajectory-cases.mjs";

const USER = `"userContent":{"role":"user","parts":[{"text":"q"}]},"creationTimestamp":0`;
const calling = (args) =>
  `[{${USER},"intermediateData":{"toolUses":[{"name":"t","args":${args}}],"intermediateResponses":[]}}]`;
const saying = (text) => `[{${USER},"finalResponse":{"role":"model","parts":[{"text":${text}}]}}]`;

/** `[name, actual args, expected args]` */
const ARGUMENTS = [
  ["an integer and the same float", `{"a":1}`, `{"a":1.0}`],
  ["an exponent and its integer", `{"a":1e2}`, `{"a":100}`],
  ["zero and minus zero", `{"a":-0}`, `{"a":0}`],
  ["zero and minus zero as a float", `{"a":-0.0}`, `{"a":0}`],
  ["integers that share a double", `{"a":9007199254740993}`, `{"a":9007199254740992}`],
  ["integers beyond 64 bits that share a double", `{"a":18446744073709551616}`, `{"a":18446744073709551617}`],
  ["ten to the 30 as integer and as float", `{"a":1000000000000000000000000000000}`, `{"a":1e30}`],
  ["decimals that share a double", `{"a":0.1}`, `{"a":0.1000000000000000055}`],
  ["a number too small and zero", `{"a":1e-400}`, `{"a":0}`],
  ["a number too large and null", `{"a":1e400}`, `{"a":null}`],
  ["two numbers too large, of either sign", `{"a":1e400}`, `{"a":-1e999}`],
  ["a number too large and the largest", `{"a":1e400}`, `{"a":1.7976931348623157e308}`],
  ["a repeated key, the last wins", `{"a":1,"a":2}`, `{"a":2}`],
  ["a repeated nested key keeps its first place", `{"o":{"a":1,"b":2,"a":3}}`, `{"o":{"a":3,"b":2}}`],
  ["nested integer keys are sorted by number", `{"o":{"10":1,"9":2}}`, `{"o":{"9":2,"10":1}}`],
  ["nested integer keys come before others", `{"o":{"b":1,"2":2,"a":3,"1":4}}`, `{"o":{"1":4,"2":2,"b":1,"a":3}}`],
  ["nested keys with leading zeros are not integers", `{"o":{"01":1,"00":2}}`, `{"o":{"00":2,"01":1}}`],
  ["nested minus zero key is not an integer", `{"o":{"-0":1,"a":2}}`, `{"o":{"a":2,"-0":1}}`],
  ["the largest array index is sorted", `{"o":{"a":1,"4294967294":2}}`, `{"o":{"4294967294":2,"a":1}}`],
  ["the key 2^32 - 1 keeps its place", `{"o":{"a":1,"4294967295":2}}`, `{"o":{"4294967295":2,"a":1}}`],
  ["a larger integer key keeps its place", `{"o":{"a":1,"9007199254740993":2}}`, `{"o":{"9007199254740993":2,"a":1}}`],
  ["nested __proto__ keys", `{"o":{"__proto__":1,"a":2}}`, `{"o":{"__proto__":1,"a":2}}`],
  ["nested __proto__ keys that differ", `{"o":{"__proto__":1}}`, `{"o":{"__proto__":2}}`],
  ["a top-level __proto__ key", `{"__proto__":{"a":1}}`, `{}`],
  ["a toJSON key is data", `{"o":{"toJSON":1}}`, `{"o":{"toJSON":2}}`],
  ["escaped and plain text", `{"a":"\\u0041\\/"}`, `{"a":"A/"}`],
  ["an escaped pair and its character", `{"a":"\\ud83d\\ude00"}`, `{"a":"😀"}`],
  ["equal lone surrogates", `{"a":"\\ud800"}`, `{"a":"\\ud800"}`],
  ["different lone surrogates", `{"a":"\\ud800"}`, `{"a":"\\udc00"}`],
  ["a lone surrogate and U+FFFD", `{"a":"\\ud800"}`, `{"a":"\\ufffd"}`],
  ["a lone surrogate and its own escape as text", `{"a":"\\ud800"}`, `{"a":"\\\\ud800"}`],
  ["white space between tokens", `{ "a" : [ 1 , 2 ] }`, `{"a":[1,2]}`],
];

/** `[name, response, reference]` as JSON texts */
const TEXTS = [
  ["a lone surrogate separates", `"a\\ud800b"`, `"a b"`],
  ["lone surrogates only", `"\\udc00"`, `"\\udc00"`],
  ["an escaped pair separates once", `"a\\ud83d\\ude00b"`, `"a b"`],
];

const REPEATED_KEYS = [
  [
    "a repeated finalResponse, the last wins",
    `[{${USER},"finalResponse":{"parts":[{"text":"x"}]},"finalResponse":{"parts":[{"text":"a"}]}}]`,
    saying(`"a"`),
  ],
  ["a repeated text, the last wins", `[{${USER},"finalResponse":{"parts":[{"text":"x","text":"a"}]}}]`, saying(`"a"`)],
];

export function textCases() {
  const trajectory = { metricName: TRAJECTORY, threshold: 1 };
  const rouge = { metricName: ROUGE, threshold: 1 };
  return [
    ...ARGUMENTS.map(([name, actual, expected]) => ({
      name: `trajectory/${name}`,
      metric: trajectory,
      actualText: calling(actual),
      expectedText: calling(expected),
    })),
    ...TEXTS.map(([name, actual, expected]) => ({
      name: `rouge/${name}`,
      metric: rouge,
      actualText: saying(actual),
      expectedText: saying(expected),
    })),
    ...REPEATED_KEYS.map(([name, actualText, expectedText]) => ({
      name: `rouge/${name}`,
      metric: rouge,
      actualText,
      expectedText,
    })),
  ];
}
