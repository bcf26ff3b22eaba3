/** A name that nothing else has, also on pages that are not served over HTTPS: these have no `crypto.randomUUID`. */
export function uniqueName(): string {
  return crypto.getRandomValues(new Uint32Array(4)).join("-");
}
