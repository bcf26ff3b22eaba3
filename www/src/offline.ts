import { configChecked } from "./state/config.js";

/**
 * Registers the service worker, which makes the site available offline, if the browser supports it. Registered only after
 * the engine is loaded, so that its downloads do not delay the engine.
 */
if (import.meta.env.PROD && "serviceWorker" in navigator) {
  void configChecked()
    .then(() => navigator.serviceWorker.register("./sw.js"))
    .catch(() => {});
}
