// Makes the engine crash on command, without help from the package: its WebAssembly instances are watched from the
// moment they are made, and an armed export is called with a pointer beyond the memory, which traps for real. What
// uses a crashed instance after that is noted. To be imported before the package.

/**
 * How many instances were made, what was called on a crashed one, and how often each export was called; and whether there is
 * no memory for another instance.
 */
export const seen = { instances: 0, usesAfterCrash: [], calls: {}, isFull: false };

/** The generated glue frees the text that a call would have given, if there is one, also after a crash. */
const CALLED_ALWAYS = "__wbindgen_free";

const BEYOND_MEMORY = 0xffff_fff0;
let armed;
let changed;

/**
 * The next call of this export crashes.
 *
 * @param change What it is given instead of its arguments; a pointer that traps if absent.
 */
export function crashNext(name, change = (given) => [BEYOND_MEMORY, ...given.slice(1)]) {
  armed = name;
  changed = change;
}

const Instance = WebAssembly.Instance;

class WatchedInstance extends Instance {
  #exports;

  constructor(module, imports) {
    if (seen.isFull) throw new RangeError("WebAssembly.Instance(): Out of memory");
    super(module, imports);
    seen.instances += 1;
    let isDead = false;
    const watch = (name, real) => {
      if (typeof real !== "function") return real;
      return (...given) => {
        if (isDead && name !== CALLED_ALWAYS) seen.usesAfterCrash.push(name);
        seen.calls[name] = (seen.calls[name] ?? 0) + 1;
        if (armed !== name) return real(...given);
        armed = undefined;
        // Until it traps, the call may have the host call back for the memory of a string.
        try {
          return real(...changed(given));
        } finally {
          isDead = true;
        }
      };
    };
    const real = super.exports;
    this.#exports = Object.fromEntries(Object.keys(real).map((name) => [name, watch(name, real[name])]));
  }

  get exports() {
    return this.#exports;
  }
}

WebAssembly.Instance = WatchedInstance;
