// The manifests of examples/queue, and the commands of docs/scale.md.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { loadAll } from "js-yaml";
import { at, judged, posix, server } from "../cli/judging.mjs";
import { manyCases } from "../package/support/conversations.mjs";
import { root } from "../package/support/package.mjs";
import { databases, redis } from "./databases.mjs";
import { AGENT, projectOf } from "./project.mjs";

const read = (path) => readFileSync(join(root, path), "utf8");
const FILES = {
  "agent.mjs": AGENT,
  "agent.evalset.json": manyCases(3, (index) => `The answer to question ${index}`),
  "test_config.json": judged(),
};

/** Every command of a container in a manifest, as words. */
function commandsIn(value) {
  if (Array.isArray(value)) return value.flatMap(commandsIn);
  if (typeof value !== "object" || value === null) return [];
  const { args, command } = value;
  const own = [args, typeof command === "string" ? command.split(" ") : undefined].filter(
    (words) => words?.[0] === "queue",
  );
  return [...own, ...Object.values(value).flatMap(commandsIn)];
}

const MANIFESTS = ["redis.compose.yaml", "postgres.compose.yaml", "kubernetes.yaml"];

for (const name of MANIFESTS) {
  test(`the commands of examples/queue/${name} are understood`, databases, async (t) => {
    const commands = commandsIn(loadAll(read(`examples/queue/${name}`)));
    assert.deepEqual(commands.map(([, word]) => word).sort(), ["add", "collect", "work"]);
    const project = projectOf(t, FILES);
    for (const words of commands) {
      const here = words.map((word) =>
        word.replace(/^evals\/.*/, "agent.evalset.json").replace("/results/", "results/"),
      );
      const { status, stderr } = await project.run(
        [...here, "--queue", "redis://127.0.0.1:1"],
        at.gemini({ url: "http://a" }),
      );
      assert.match(stderr, /error: there is no queue at 127\.0\.0\.1:1/, here.join(" "));
      assert.equal(status, 2);
    }
    // A key that stood in a manifest would be in its history.
    assert.doesNotMatch(read(`examples/queue/${name}`), /API_KEY: *["']?[\w-]{12,}/);
  });
}

test("Compose starts the service that collects, which waits for all others", { ...databases }, () => {
  const readme = read("examples/queue/README.md");
  for (const name of MANIFESTS.filter((one) => one.includes("compose"))) {
    const [, command] = /^#   (docker compose .*)$/m.exec(read(`examples/queue/${name}`)) ?? [];
    // `up` ends every container with the first one, which adds.
    assert.equal(command, `docker compose -f ${name} run --build --rm collect`);
    const [{ services }] = loadAll(read(`examples/queue/${name}`));
    const waits = (service) => Object.entries(services[service].depends_on ?? {});
    assert.deepEqual(waits("collect"), [["worker", { condition: "service_completed_successfully" }]]);
    assert.deepEqual(waits("worker"), [["add", { condition: "service_completed_successfully" }]]);
    const [[database, { condition }]] = waits("add");
    assert.deepEqual([condition, name.startsWith(database)], ["service_healthy", true]);
    assert.ok(readme.includes(name));
  }
  assert.ok(readme.includes("docker compose -f redis.compose.yaml run --build --rm collect"));
});

test("Kubernetes finds every volume that the manifest names", { ...databases }, () => {
  const text = read("examples/queue/kubernetes.yaml");
  const claims = loadAll(text).filter(({ kind }) => kind === "PersistentVolumeClaim");
  const named = [...text.matchAll(/claimName: (\S+)/g)].map(([, name]) => name);
  assert.deepEqual(
    named,
    claims.map(({ metadata }) => metadata.name),
  );
});

test(
  "the commands of docs/scale.md do what the page says",
  { ...databases, ...(databases.skip ? {} : posix) },
  async (t) => {
    const [, section] = read("docs/scale.md").split("\n## A queue for a fleet\n");
    const [, script] = /^```text illustration\n([^]*?)^```$/m.exec(section) ?? [];
    assert.match(script, /queue add .*\n[^]*queue work [^]*queue status[^]*queue collect /);
    const [judge, database] = [await server(t), await redis(t)];
    const project = projectOf(t, FILES);
    const env = { ...process.env, ...at.gemini(judge), NO_COLOR: "1" };
    const here = script
      .replace("redis://localhost:6379", database.url)
      .replaceAll("npx adk-metrics", `${process.execPath} node_modules/adk-metrics/dist/esm/cli.js`);
    // Not to keep this process from answering as the judge.
    const { spawn } = await import("node:child_process");
    const child = spawn("sh", ["-e", "-c", here], { cwd: project.folder, env, stdio: "pipe" });
    const said = [];
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => said.push(chunk));
    const [status] = await new Promise((resolve) => child.on("close", (...end) => resolve(end)));
    assert.equal(status, 0, said.join(""));
    assert.match(said.join(""), /^6 runs of cases added$[^]*^runs +█+ 6\/6$/m);
    assert.match(project.read("report.html"), /case-2/);
    assert.equal(spawnSync("test", ["-s", "report.html"], { cwd: project.folder }).status, 0);
  },
);
