import { configChecked } from "./state/config.js";

/**
 * Keeps the site for when there is no network; a browser that cannot do that goes without. What is fetched for it does not
 * get in the way of the engine.
 */
if (import.meta.env.PROD && "serviceWorker" in navigator) {
  void configChecked()
    .then(() => navigator.serviceWorker.register("./sw.js"))
    .catch(() => {});
}
