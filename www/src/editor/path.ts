/** Parses the paths of the engine's errors: `evalSet: eval_cases[2].conversation[0].user_content`. */

/** The keys and indices of a path, without the name of the input before it. */
export function stepsOf(path: string): (string | number)[] {
  const steps: (string | number)[] = [];
  const place = path.replace(/^(?:evalSet|actual|config|criteria): /, "");
  for (const [, index, quoted, name] of place.matchAll(/\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]|([^.[\]]+)/g)) {
    if (index !== undefined) steps.push(Number(index));
    else if (quoted !== undefined) steps.push(JSON.parse(quoted) as string);
    else if (name !== undefined && name !== "$") steps.push(name);
  }
  return steps;
}
