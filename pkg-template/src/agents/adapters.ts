/** Every kind of agent behind one interface: a conversation that is sent messages and gives events. */

import { isObject, reading, unexpected } from "../engine/values.js";
import { AdkMetricsError } from "../errors.js";
import type { Content, Invocation, SessionInput } from "../types.js";
import type { Agent, AgentFunction } from "./agent.js";
import { agentHost } from "./host.js";
import { observe } from "./observe.js";

/** An agent, whatever it is made with. */
export interface Subject {
  readonly name: string;
  /** Begins a conversation in a session of its own. */
  open(input: SessionInput | undefined): Promise<Conversation>;
  /** Lets what its models and tools do be known until the function that it gives is called. */
  observe(): () => void;
}

/** A conversation with an agent. */
export interface Conversation {
  readonly sessionId: string;
  readonly userId: string;
  /** What happens when the user says something. */
  send(message: Content, history: readonly Invocation[], signal: AbortSignal): AsyncIterable<unknown>;
}

/** What google-adk calls the app and the user of a case that names none. */
const DEFAULT_APP = "EvaluationGenerator";
const DEFAULT_USER = "test_user_id";

const WHAT_FITS =
  "Pass an agent, a runner, the result of build(), or an async function that answers the user's message";

/**
 * Finds out what an agent is, by its shape.
 *
 * @throws {AdkMetricsError} `invalid_input` if it is none.
 */
export async function subjectOf(agent: Agent | Promise<Agent>): Promise<Subject> {
  const isPromise = isObject(agent) && reading("agent", () => typeof (agent as Promise<Agent>).then === "function");
  const given: unknown = isPromise ? await agent : agent;
  if (typeof given === "function") return functionSubject(given as AgentFunction);
  if (!isObject(given)) throw notAnAgent(given);
  const kind = reading("agent", () => kindOf(given));
  switch (kind) {
    case "builder":
      return builtSubject(checkBuilt(await (given as { build(): unknown }).build()));
    case "built":
      return builtSubject(given as BuiltBag);
    case "runner":
      return runnerSubject(given as RunnerBag);
    case "agent":
    case "app":
      return bareSubject(given as AgentBag, kind);
    case "enhancedRunner":
      throw new AdkMetricsError(
        "invalid_input",
        "the runner has no session service, so cases cannot get their own sessions",
        {
          path: "agent",
          help: "Pass everything that AgentBuilder's build() returns, or its agent",
        },
      );
    default:
      throw notAnAgent(given);
  }
}

function checkBuilt(found: unknown): BuiltBag {
  if (isObject(found) && reading("agent", () => kindOf(found)) === "built") return found as BuiltBag;
  throw notAnAgent(found, "the result of AgentBuilder's build()");
}

function notAnAgent(found: unknown, what = "an agent"): AdkMetricsError {
  return unexpected(what, found, "agent", helpFor(found) ?? WHAT_FITS);
}

/** What to pass instead of what is often taken for an agent. */
function helpFor(found: unknown): string | undefined {
  if (!isObject(found)) return undefined;
  return reading("agent", () => {
    const fields = found as Bag;
    if ("evalCases" in fields || "eval_cases" in fields) {
      return "This is an evalset. The agent comes first: evaluateEvalSet(agent, evalSet, criteria)";
    }
    if (fields[Symbol.toStringTag] !== "Module") return undefined;
    const names = Object.keys(fields).filter((name) => typeof fields[name] === "function" || isAgent(fields[name]));
    if (names.length === 0) return "This is a module, and it exports no agent";
    return `This is a module: pass one of its exports, ${names.map((name) => `\`${name}\``).join(" or ")}`;
  });
}

type Bag = Readonly<Record<string | symbol, unknown>>;

const GOOGLE_AGENT = Symbol.for("google.adk.baseAgent");
const GOOGLE_NODE = Symbol.for("google.adk.workflow.baseNode");
const GOOGLE_RUNNER = Symbol.for("google.adk.runner");
const GOOGLE_APP = Symbol.for("google.adk.app");

/** Whether something is an agent by its shape. A function may be one, or may make one. */
export function isAgent(value: unknown): boolean {
  return isObject(value) && reading("agent", () => kindOf(value)) !== undefined;
}

type AgentKind = "builder" | "built" | "runner" | "enhancedRunner" | "agent" | "app";

function kindOf(value: object): AgentKind | undefined {
  const fields = value as Bag;
  if (fields[GOOGLE_APP] === true) return "app";
  if (fields[GOOGLE_NODE] === true || fields[GOOGLE_AGENT] === true) return "agent";
  if (isObject(fields.runner) && isObject(fields.sessionService) && isObject(fields.session)) return "built";
  if (typeof fields.build === "function") return "builder";
  if (typeof fields.runAsync !== "function") return undefined;
  if (isObject(fields.sessionService) && typeof fields.appName === "string") return "runner";
  if (typeof fields.ask === "function") return "enhancedRunner";
  return typeof fields.name === "string" ? "agent" : undefined;
}

interface AgentBag extends Bag {
  name: string;
}

interface SessionBag {
  id: string;
  appName: string;
  userId: string;
}

type RunAsync = (request: {
  userId: string;
  sessionId: string;
  newMessage: Content;
  abortSignal: AbortSignal;
}) => AsyncIterable<unknown>;

interface RunnerBag {
  appName: string;
  agent: AgentBag;
  sessionService: object;
  runAsync: RunAsync;
}

interface BuiltBag {
  agent: AgentBag;
  runner: { runAsync: RunAsync };
  session: SessionBag;
  sessionService: object;
}

/** The session services of the two libraries take the same, one by place and one by name. */
interface SessionRequest {
  appName: string;
  userId: string;
  state: Record<string, unknown> | undefined;
  sessionId: string | undefined;
}

type Library = "adk-ts" | "google";

async function createSession(service: object, library: Library, request: SessionRequest): Promise<SessionBag> {
  const { appName, userId, state, sessionId } = request;
  if (library === "google") {
    return (service as { createSession(request: SessionRequest): Promise<SessionBag> }).createSession(request);
  }
  type Positional = (app: string, user: string, state?: object, id?: string) => Promise<SessionBag>;
  return (service as { createSession: Positional }).createSession(appName, userId, state, sessionId);
}

async function getSession(
  service: object,
  library: Library,
  { appName, userId, sessionId }: SessionRequest,
): Promise<SessionBag | undefined> {
  if (library === "google") {
    type ByName = (request: object) => Promise<SessionBag | undefined>;
    return (service as { getSession: ByName }).getSession({ appName, userId, sessionId });
  }
  type Positional = (app: string, user: string, id: string | undefined) => Promise<SessionBag | undefined>;
  return (service as { getSession: Positional }).getSession(appName, userId, sessionId);
}

/**
 * Gives sessions of a service that belongs to the user. A case may pin the id of a session that somebody prepared: then
 * every run goes on with it. Otherwise the first run gets that id, and the others ids of their own.
 */
function sessionGiver(service: object, library: Library): (request: SessionRequest) => Promise<SessionBag> {
  const prepared = new Map<string, Promise<SessionBag | undefined>>();
  return async (request) => {
    const { appName, userId, sessionId } = request;
    if (sessionId === undefined) return createSession(service, library, request);
    const key = JSON.stringify([appName, userId, sessionId]);
    const known = prepared.get(key);
    const found = known ?? getSession(service, library, request);
    prepared.set(key, found);
    const own = known === undefined ? request : { ...request, sessionId: undefined };
    return (await found) ?? createSession(service, library, own);
  };
}

/** How a session of a case begins. Every run gets a state of its own. */
function sessionRequest(input: SessionInput | undefined, appName: string, userId: string): SessionRequest {
  return {
    appName,
    userId: input?.userId || userId,
    state: input?.state === undefined ? undefined : structuredClone(input.state),
    sessionId: input?.sessionId || undefined,
  };
}

function conversationIn(session: SessionBag, runner: { runAsync: RunAsync }): Conversation {
  return {
    sessionId: session.id,
    userId: session.userId,
    send: (message, _history, abortSignal) =>
      runner.runAsync({
        userId: session.userId,
        sessionId: session.id,
        newMessage: structuredClone(message),
        abortSignal,
      }),
  };
}

function runnerSubject(runner: RunnerBag): Subject {
  const library: Library = (runner as unknown as Bag)[GOOGLE_RUNNER] === true ? "google" : "adk-ts";
  const sessionFor = sessionGiver(runner.sessionService, library);
  return {
    name: nameOf(runner.agent),
    observe: () => observe(runner.agent),
    async open(input) {
      return conversationIn(await sessionFor(sessionRequest(input, runner.appName, DEFAULT_USER)), runner);
    },
  };
}

/** Its runner looks sessions up by the name of the app that it was built with. */
function builtSubject({ agent, runner, session, sessionService }: BuiltBag): Subject {
  const sessionFor = sessionGiver(sessionService, "adk-ts");
  return {
    name: nameOf(agent),
    observe: () => observe(agent),
    async open(input) {
      return conversationIn(await sessionFor(sessionRequest(input, session.appName, session.userId)), runner);
    },
  };
}

interface LibraryBag {
  Runner: new (config: object) => RunnerBag;
  InMemorySessionService: new () => object;
  InMemoryArtifactService: new () => object;
  InMemoryMemoryService: new () => object;
  BaseAgent: abstract new (...parameters: never[]) => object;
}

/** An agent without a runner gets one of the library that it comes from, with services in memory, for each conversation. */
async function bareSubject(agent: AgentBag, kind: "agent" | "app"): Promise<Subject> {
  const root = kind === "app" ? (agent.rootAgent as AgentBag) : agent;
  const library: Library =
    kind === "app" || root[GOOGLE_NODE] === true || root[GOOGLE_AGENT] === true ? "google" : "adk-ts";
  const found = await libraryOf(agent, library);
  return {
    name: nameOf(root),
    observe: () => observe(root),
    async open(input) {
      const { Runner, InMemorySessionService, InMemoryArtifactService, InMemoryMemoryService } = found;
      const sessionService = new InMemorySessionService();
      const appName = kind === "app" ? agent.name : input?.appName || DEFAULT_APP;
      const runner = new Runner({
        ...(kind === "app" ? { app: agent } : { agent, plugins: pluginsOf(agent) }),
        appName,
        sessionService,
        artifactService: new InMemoryArtifactService(),
        memoryService: new InMemoryMemoryService(),
      });
      const session = await createSession(sessionService, library, sessionRequest(input, appName, DEFAULT_USER));
      return conversationIn(session, runner);
    },
  };
}

function pluginsOf(agent: AgentBag): unknown[] {
  return Array.isArray(agent.plugins) ? (agent.plugins as unknown[]) : [];
}

/** The copy of a library whose classes an agent is made of. */
async function libraryOf(agent: AgentBag, library: Library): Promise<LibraryBag> {
  const packageName = library === "google" ? "@google/adk" : "@iqai/adk";
  const help = `Pass a Runner of ${packageName} instead of its agent`;
  const host = agentHost("running an agent without a runner", help);
  for await (const copy of host.copiesOf(packageName)) {
    const fields = copy as Partial<LibraryBag>;
    if (typeof fields.Runner !== "function" || typeof fields.InMemorySessionService !== "function") continue;
    // The classes of @google/adk know each other by symbols, whichever copy they are of.
    if (library === "google" || (typeof fields.BaseAgent === "function" && agent instanceof fields.BaseAgent)) {
      return fields as LibraryBag;
    }
  }
  throw new AdkMetricsError("invalid_input", `${packageName}, which this agent was created with, cannot be found`, {
    path: "agent",
    help,
  });
}

/** What agents are called that have no name. */
export const UNNAMED = "Unknown Agent";

function nameOf(agent: AgentBag | undefined): string {
  const name: unknown = agent?.name;
  return typeof name === "string" && name !== "" ? name : UNNAMED;
}

function functionSubject(agent: AgentFunction): Subject {
  if (/^class\b/.test(Function.prototype.toString.call(agent))) {
    throw new AdkMetricsError("invalid_input", "expected an agent, found a class", {
      path: "agent",
      help: `Pass an instance: new ${agent.name}(…)`,
    });
  }
  return {
    // A function without a name that a module exports as default is called after that.
    name: agent.name === "" || agent.name === "default" ? UNNAMED : agent.name,
    observe: () => () => undefined,
    async open(input) {
      const sessionId = input?.sessionId || newId();
      const userId = input?.userId || DEFAULT_USER;
      const state = structuredClone(input?.state ?? {});
      return {
        sessionId,
        userId,
        send: (content, history, signal) =>
          eventsOf(textOf(content), () =>
            agent(textOf(content), { content: structuredClone(content), sessionId, userId, state, history, signal }),
          ),
      };
    },
  };
}

/** Pages that are not served over HTTPS have no `randomUUID`. */
function newId(): string {
  return crypto.getRandomValues(new Uint32Array(4)).reduce((id, word) => id + word.toString(16).padStart(8, "0"), "");
}

/** The text of a message, its parts joined by line breaks. */
export function textOf({ parts }: Content): string {
  return (parts ?? [])
    .map(({ text }) => text)
    .filter((text) => typeof text === "string" && text !== "")
    .join("\n");
}

/** What a function answered as events. */
async function* eventsOf(message: string, answer: () => unknown): AsyncGenerator<unknown> {
  const found = await answer();
  const none = found === undefined ? "undefined" : undefinedIn(found);
  if (none !== undefined) {
    const asked = JSON.stringify(message.length > 60 ? `${message.slice(0, 60)}…` : message);
    throw new AdkMetricsError("invalid_input", `the agent returned ${none} for ${asked}`, {
      help: "Return the answer, or null for none",
    });
  }
  if (found === null) return;
  if (typeof found === "string") {
    yield { content: { role: "model", parts: [{ text: found }] } };
  } else if (isIterable(found)) {
    yield* found;
  } else if (isAgent(found)) {
    throw new AdkMetricsError("invalid_input", "this function creates agents, and is not an agent itself", {
      path: "agent",
      help: "Call it, and pass the agent that it returns",
    });
  } else if (isObject(found) && "parts" in found) {
    yield { content: found };
  } else {
    yield found;
  }
}

/** What an answer has nothing under, as after a misspelt key of a model's reply. */
function undefinedIn(found: unknown): string | undefined {
  const key = ["parts", "content"].find((one) => isObject(found) && one in found && (found as Bag)[one] === undefined);
  return key === undefined || "actions" in (found as Bag) ? undefined : `an object whose \`${key}\` is undefined`;
}

function isIterable(value: unknown): value is Iterable<unknown> | AsyncIterable<unknown> {
  return typeof value === "object" && value !== null && (Symbol.iterator in value || Symbol.asyncIterator in value);
}
