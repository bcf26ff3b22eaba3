/** A message as a sentence: capitalised, unless it starts with a name, and with a full stop. */
export function sentence(text: string): string {
  const begun = /^[a-z][a-z]* /.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text;
  return /[.!?…]$/.test(begun) ? begun : `${begun}.`;
}
