// Takes the place of these globals in everything that is bundled (`inject` in scripts/bundle.mjs): Jest's environment
// `jsdom` hides them, while Node's modules give them out all the same.

type Globals = Pick<typeof globalThis, "structuredClone" | "TextDecoder" | "TextEncoder">;

const { structuredClone, TextDecoder, TextEncoder }: Globals =
  typeof globalThis.TextDecoder === "function" ? globalThis : ofNode();

function ofNode(): Globals {
  const { getBuiltinModule } = globalThis.process;
  const { deserialize, serialize } = getBuiltinModule("node:v8");
  return {
    structuredClone: (value) => deserialize(serialize(value)) as never,
    ...(getBuiltinModule("node:util") as unknown as Pick<Globals, "TextDecoder" | "TextEncoder">),
  };
}

export { structuredClone, TextDecoder, TextEncoder };
