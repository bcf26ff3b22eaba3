/** The eval config as text, and what the engine says of it. */

import { computed, effect, signal } from "@preact/signals";
import { DEFAULT_CRITERIA } from "virtual:manifest";
import { engine } from "../worker/client.js";
import type { ConfigInfo, Outcome } from "../worker/protocol.js";
import { withoutComments } from "./comments.js";

/** google-adk's criteria where there is no config. */
export const DEFAULT_CONFIG = `${JSON.stringify({ criteria: DEFAULT_CRITERIA }, null, 2)}\n`;

export const configText = signal(DEFAULT_CONFIG);

/** The config as the engine reads it: comments are blanks, so that lines and columns stay. */
export const plainConfig = computed(() => withoutComments(configText.value));

/** What the config comes to, or what is wrong with it; absent while that is being looked at. */
export const configInfo = signal<Outcome<ConfigInfo> | undefined>(undefined);

let lastCheck = 0;
let checking: Promise<void> = Promise.resolve();
effect(() => {
  const text = plainConfig.value;
  const check = (lastCheck += 1);
  checking = engine.checkConfig(text).then((info) => {
    if (check === lastCheck) configInfo.value = info;
  });
});

/** Resolves when what is known of the config is about its text of now. */
export async function configChecked(): Promise<void> {
  for (let before: Promise<void> | undefined; before !== checking;) {
    before = checking;
    await before;
  }
}

/** Whether a metric of the config asks a judge. */
export const asksJudge = computed(() => configInfo.value?.ok === true && configInfo.value.value.judges.length > 0);
