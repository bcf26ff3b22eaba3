/** The eval config as text, and its validation by the engine. */

import { computed, effect, signal } from "@preact/signals";
import { DEFAULT_CRITERIA } from "virtual:manifest";
import { engine } from "../worker/client.js";
import type { ConfigInfo, Outcome } from "../worker/protocol.js";
import { withoutComments } from "./comments.js";

/** google-adk's default criteria, which apply without a config. */
export const DEFAULT_CONFIG = `${JSON.stringify({ criteria: DEFAULT_CRITERIA }, null, 2)}\n`;

export const configText = signal(DEFAULT_CONFIG);

/** The config as the engine reads it: comments are replaced by spaces, so that lines and columns stay the same. */
export const plainConfig = computed(() => withoutComments(configText.value));

/** The result of validating the config; undefined during the first validation. */
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

/** Resolves when the current text of the config is validated. */
export async function configChecked(): Promise<void> {
  for (let before: Promise<void> | undefined; before !== checking;) {
    before = checking;
    await before;
  }
}

/** Whether a metric of the config needs a judge. */
export const asksJudge = computed(() => configInfo.value?.ok === true && configInfo.value.value.judges.length > 0);
