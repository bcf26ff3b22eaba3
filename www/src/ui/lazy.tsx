import { signal } from "@preact/signals";
import { type ComponentType, h } from "preact";
import { useEffect } from "preact/hooks";

/**
 * A component that is loaded when it is first shown.
 *
 * @param load Imports the module whose default export is the component.
 */
export function lazy<P extends object>(load: () => Promise<{ default: ComponentType<P> }>): ComponentType<P> {
  const loaded = signal<ComponentType<P> | undefined>(undefined);
  const failed = signal(false);
  return function Lazy(props) {
    useEffect(() => {
      load().then(
        (module) => {
          loaded.value = module.default;
        },
        () => {
          failed.value = true;
        },
      );
    }, []);
    if (loaded.value !== undefined) return h(loaded.value, props);
    return <p class="muted">{failed.value ? "This part could not be loaded. Reload the page." : "Loading…"}</p>;
  };
}
