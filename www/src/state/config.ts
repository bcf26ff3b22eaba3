/** The eval config as text, and what the engine says of it. */

import { computed, effect, signal } from "@preact/signals";
import { DEFAULT_CRITERIA } from "virtual:manifest";
import { engine } from "../worker/client.js";
import type { ConfigFacts, Outcome } from "../worker/protocol.js";
import { withoutComments } from "./comments.js";

/** google-adk's criteria where there is no config. */
export const DEFAULT_CONFIG = `${JSON.stringify({ criteria: DEFAULT_CRITERIA }, null, 2)}\n`;

export const configText = signal(DEFAULT_CONFIG);

/** The config as the engine reads it: comments are blanks, so that lines and columns stay. */
export const plainConfig = computed(() => withoutComments(configText.value));

/** What the config comes to, or what is wrong with it; absent while that is being looked at. */
export const configFacts = signal<Outcome<ConfigFacts> | undefined>(undefined);

let looked = 0;
let looking: Promise<void> = Promise.resolve();
effect(() => {
  const text = plainConfig.value;
  const mine = (looked += 1);
  looking = engine.checkConfig(text).then((facts) => {
    if (mine === looked) configFacts.value = facts;
  });
});

/** Resolves when what is known of the config is about its text of now. */
export async function configChecked(): Promise<void> {
  for (let before: Promise<void> | undefined; before !== looking;) {
    before = looking;
    await before;
  }
}

/** Whether a metric of the config asks a judge. */
export const asksJudge = computed(() => configFacts.value?.ok === true && configFacts.value.value.judges.length > 0);
