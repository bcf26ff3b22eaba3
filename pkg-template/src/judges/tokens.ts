/**
 * Control tokens of chat templates, such as `<|im_end|>`, in prompts for models that may interpret them.
 * The engine breaks them up by itself in what it writes for servers.
 */

import { withEngine } from "../engine/instance.js";

/** A prompt with its control tokens broken up: a word joiner follows the first character of each. */
export function withoutTokens(prompt: string): string {
  return /[<[\]]/.test(prompt) ? withEngine((engine) => engine.withoutTokens(prompt)) : prompt;
}

/** A reply without the joiners in the tokens that it quotes. */
export function withTokens(reply: string): string {
  return reply.includes("\u2060") ? withEngine((engine) => engine.withTokens(reply)) : reply;
}
