/** Which of several configs applies. One run has one, even if the folders of its evalsets have their own. */

import { activateConfig, activeConfig } from "../../state/active-config.js";
import { configText, DEFAULT_CONFIG } from "../../state/config.js";
import { matching, pathOf, sourceOf } from "../../state/inputs.js";
import { Name } from "../../ui/text.js";

export function ConfigChoice() {
  const { configs, pairs } = matching.value;
  const files = configs.flatMap((id) => sourceOf(id) ?? []);
  const used = files.find(({ id }) => id === activeConfig.value);
  if (files.length < 2) return null;
  const folders = new Set(
    pairs.flatMap(({ expected, actual }) => sourceOf(expected === "own" ? actual : expected)?.folder ?? []),
  );
  const unused = files.filter((file) => file !== used && folders.has(file.folder));
  return (
    <div class="config-choice">
      <label>
        Config{" "}
        <select
          class="field"
          value={used === undefined ? "" : String(used.id)}
          onChange={({ currentTarget }) => {
            const chosen = sourceOf(Number(currentTarget.value));
            if (chosen !== undefined) activateConfig(chosen);
          }}
        >
          {used === undefined && (
            <option value="">
              {configText.value === DEFAULT_CONFIG ? "google-adk’s default criteria" : "The criteria of this page"}
            </option>
          )}
          {files.map((file) => (
            <option key={file.id} value={String(file.id)}>
              {pathOf(file)}
            </option>
          ))}
        </select>
      </label>
      <p class="muted">
        A run has one config for all of its evalsets.
        {unused.length > 0 && (
          <>
            {" "}
            Not used:{" "}
            {unused.map((file, index) => (
              <>
                {index > 0 && ", "}
                <Name>{pathOf(file)}</Name>
              </>
            ))}
          </>
        )}
      </p>
    </div>
  );
}
