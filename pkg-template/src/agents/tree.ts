/** The instructions and tools of an agent and its sub-agents, as `appDetails` of an invocation keeps them. */

interface AgentNode {
  name?: unknown;
  instruction?: unknown;
  tools?: unknown;
  subAgents?: unknown;
}

/** No tree of agents is deeper; a ring of them would be. */
const MAX_DEPTH = 32;

/**
 * What is known of the agents with these names. Instructions that are functions are left out, since they depend on a
 * running model call.
 */
export function detailsOfTree(root: object, names: ReadonlySet<string>): Record<string, unknown> | undefined {
  const agentDetails: Record<string, unknown> = {};
  collect(root, names, agentDetails, 0);
  return Object.keys(agentDetails).length === 0 ? undefined : { agentDetails };
}

function collect(agent: AgentNode, names: ReadonlySet<string>, into: Record<string, unknown>, depth: number): void {
  const { name, instruction, tools, subAgents } = agent;
  if (typeof name === "string" && names.has(name) && !Object.hasOwn(into, name)) {
    const declarations = Array.isArray(tools) ? tools.map(declarationOf).filter((found) => found !== undefined) : [];
    into[name] = {
      name,
      instructions: typeof instruction === "string" ? instruction : "",
      toolDeclarations: declarations.length === 0 ? [] : [{ functionDeclarations: declarations }],
    };
  }
  if (depth === MAX_DEPTH || !Array.isArray(subAgents)) return;
  for (const child of subAgents)
    if (typeof child === "object" && child !== null) collect(child as AgentNode, names, into, depth + 1);
}

/** A tool's declaration as JSON has it; nothing of one that has none, or cannot give it outside a run. */
function declarationOf(tool: unknown): unknown {
  try {
    const { getDeclaration, _getDeclaration } = tool as Record<string, unknown>;
    const get = getDeclaration ?? _getDeclaration;
    const declaration: unknown = typeof get === "function" ? get.call(tool) : undefined;
    return typeof declaration === "object" && declaration !== null
      ? JSON.parse(JSON.stringify(declaration))
      : undefined;
  } catch {
    return undefined;
  }
}
