// A real Redis and a real PostgreSQL, each with a port and a folder of its own, ended with the test.

import { spawn, spawnSync } from "node:child_process";
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { mustRun } from "../package/support/package.mjs";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

/** The folder of a program: that of the search path, or where Debian has PostgreSQL's. */
function folderOf(program) {
  const debian = "/usr/lib/postgresql";
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => b - a) : [];
  const folders = [...versions.map((version) => join(debian, version, "bin")), ...process.env.PATH.split(delimiter)];
  return folders.find((folder) => existsSync(join(folder, program)));
}

const [redisFolder, postgresFolder] = [folderOf("redis-server"), folderOf("initdb")];
const isInstalled = existsSync(here("node_modules"));
const missing = [
  ...(isInstalled ? [] : ["the packages of tests/queue"]),
  ...(redisFolder === undefined ? ["redis-server"] : []),
  ...(postgresFolder === undefined ? ["PostgreSQL"] : []),
];

/** Why nothing of this can be tested; in CI it is an error instead. */
export const databases = { skip: missing.length > 0 && !mustRun ? `without ${missing.join(" and ")}` : false };

/** Many times what a database takes to start. */
const LIMIT_MS = 60_000;

/** Starts a Redis. */
export async function redis(t) {
  const [folder, port] = [newFolder(), await freePort()];
  const args = ["--port", port, "--bind", "127.0.0.1", "--dir", folder, "--appendonly", "yes", "--save", ""];
  const begin = () => started(join(redisFolder, "redis-server"), args.map(String), {}, port);
  let server = await begin();
  t.after(() => server.stop("SIGKILL").then(() => remove(folder)));
  return {
    url: `redis://127.0.0.1:${port}`,
    async restart() {
      await server.stop("SIGTERM");
      server = await begin();
    },
    /** All that it holds, as text. */
    dump: () => ask("redis-cli", ["-p", String(port), "--no-raw", "EVAL", DUMP, "0"]),
  };
}

/** Each key with all that it has; what `DUMP` gives may be compressed. */
const DUMP = `local all = {}
local function add(value)
  if type(value) == "table" then for _, one in ipairs(value) do add(one) end else all[#all + 1] = tostring(value) end
end
for _, key in ipairs(redis.call("keys", "*")) do
  add(key)
  local kind = redis.call("type", key).ok
  if kind == "hash" then add(redis.call("hgetall", key))
  elseif kind == "list" then add(redis.call("lrange", key, 0, -1))
  elseif kind == "set" then add(redis.call("smembers", key))
  elseif kind == "zset" then add(redis.call("zrange", key, 0, -1))
  elseif kind == "stream" then add(redis.call("xrange", key, "-", "+"))
  else add(redis.call("get", key)) end
end
return table.concat(all, " ")`;

/** Starts a PostgreSQL. */
export async function postgres(t) {
  const [folder, port] = [newFolder(), await freePort()];
  // It refuses to be run by root.
  const user = process.getuid() === 0 ? idsOf("postgres") : {};
  if (user.uid !== undefined) chownSync(folder, user.uid, user.gid);
  const data = join(folder, "data");
  const made = spawnSync(
    join(postgresFolder, "initdb"),
    ["--pgdata", data, "--auth", "trust", "--username", "test", "--no-sync", "--no-locale", "--encoding", "UTF8"],
    { ...user, encoding: "utf8", cwd: folder },
  );
  if (made.status !== 0) throw new Error(`initdb: ${made.stderr}`);
  const args = ["-D", data, "-p", String(port), "-k", folder, "-c", "listen_addresses=127.0.0.1", "-c", "fsync=off"];
  const begin = () => started(join(postgresFolder, "postgres"), args, { ...user, cwd: folder }, port);
  let server = await begin();
  // Killed, it would leave processes that still write.
  t.after(() => server.stop("SIGQUIT").then(() => remove(folder)));
  const url = `postgres://test@127.0.0.1:${port}/postgres`;
  await until(async () => ask("psql", [url, "-c", "SELECT 1"], true), "PostgreSQL");
  return {
    url,
    async restart() {
      await server.stop("SIGINT");
      server = await begin();
      await until(async () => ask("psql", [url, "-c", "SELECT 1"], true), "PostgreSQL");
    },
    dump: () => ask("pg_dump", [url]),
  };
}

function ask(program, args, isTried = false) {
  const folder = program === "redis-cli" ? redisFolder : postgresFolder;
  const { status, stdout, stderr } = spawnSync(join(folder, program), args, { encoding: "latin1", maxBuffer: 1 << 28 });
  if (isTried) return status === 0;
  if (status !== 0) throw new Error(`${program}: ${stderr}`);
  return stdout;
}

const idsOf = (user) => {
  const [uid, gid] = ["-u", "-g"].map((option) => Number(spawnSync("id", [option, user], { encoding: "utf8" }).stdout));
  return { uid, gid };
};

const newFolder = () => mkdtempSync(join(tmpdir(), "adk-metrics-queue-"));
const remove = (folder) => rmSync(folder, { recursive: true, force: true });

/** Starts a server and waits until it listens. */
async function started(program, args, options, port) {
  const child = spawn(program, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text) => (said += text));
  const end = new Promise((resolve) => child.on("close", resolve));
  let isOver = false;
  void end.then(() => (isOver = true));
  const stop = async (signal) => {
    if (!isOver) child.kill(signal);
    await end;
  };
  await until(() => {
    if (isOver) throw new Error(`${program} ended: ${said}`);
    return listens(port);
  }, program).catch(async (error) => {
    await stop("SIGKILL");
    throw error;
  });
  return { stop };
}

const listens = (port) =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.on("connect", () => (socket.destroy(), resolve(true)));
    socket.on("error", () => resolve(false));
  });

async function until(isSo, what) {
  const begun = Date.now();
  while (!(await isSo())) {
    if (Date.now() - begun > LIMIT_MS) throw new Error(`waited ${LIMIT_MS / 1000} s for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const freePort = () =>
  new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
