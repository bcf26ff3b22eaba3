// Cache keys of requests, and the caches that work in Node. IndexedDB is tested in a browser: chromium.test.mjs.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileCache } from "../../../pkg-template/src/judges/cache-file.js";
import { indexedDbCache } from "../../../pkg-template/src/judges/cache-indexed-db.js";
import { cacheKey, memoryCache } from "../../../pkg-template/src/judges/cache.js";
import type { JudgeCache, JudgeRequest } from "../../../pkg-template/src/types.js";
import { errorOf, HOSTILE, REQUEST } from "./support.js";

const KEY = "a".repeat(64);
const OTHER = "b".repeat(64);
const REPLY = { text: "yes", usage: { inputTokens: 1, outputTokens: 2, totalTokens: 3 }, modelVersion: "m-1" };

describe("a key", () => {
  test("is a SHA-256 that stays the same from release to release", async () => {
    const key = await cacheKey(REQUEST);
    assert.equal(key, "cf17b6b869e8755aa6195278411f51cf133c4ccd3487bae18cd102075dd921a9");
  });

  test("does not depend on who asks, when, and in which order of keys", async () => {
    const key = await cacheKey(REQUEST);
    const same: Partial<JudgeRequest>[] = [
      { id: "9" },
      { evalId: "rome" },
      { invocationIndex: 9 },
      { stepIndex: 9 },
      { generationConfig: Object.fromEntries(Object.entries(REQUEST.generationConfig ?? {}).reverse()) },
    ];
    for (const changes of same) assert.equal(await cacheKey({ ...REQUEST, ...changes }), key);
  });

  test("differs with everything that the reply depends on, the sample above all", async () => {
    const changes: Partial<JudgeRequest>[] = [
      {},
      { sampleIndex: 3 },
      { metricName: "other" },
      { purpose: "score" },
      { model: "other" },
      { system: "other" },
      { prompt: "other" },
      { responseSchema: {} },
      { generationConfig: { temperature: 0.6 } },
      { system: REQUEST.prompt, prompt: REQUEST.system ?? "" },
    ];
    const keys = await Promise.all(changes.map((change) => cacheKey({ ...REQUEST, ...change })));
    keys.push(await cacheKey(REQUEST, "openai http://127.0.0.1"));
    assert.equal(new Set(keys).size, changes.length + 1);
  });

  test("is made without keys and headers", async (t) => {
    const digested: string[] = [];
    t.mock.method(crypto.subtle, "digest", async (_: string, bytes: Uint8Array) => {
      digested.push(new TextDecoder().decode(bytes));
      return new ArrayBuffer(32);
    });
    await cacheKey({ ...REQUEST, apiKey: "secret-key" } as JudgeRequest);
    assert.equal(digested.length, 1);
    assert.doesNotMatch(digested[0] ?? "", /secret/);
  });

  test("is not allowed to a request that says which server to ask", async () => {
    for (const key of ["httpOptions", "http_options", "HTTP_OPTIONS"]) {
      const generationConfig = { [key]: { baseUrl: "https://evil.example" } };
      const error = await errorOf(() => cacheKey({ ...REQUEST, generationConfig }));
      assert.equal(error.code, "invalid_input");
      assert.match(error.message, new RegExp(`${key}. is not allowed`));
      assert.doesNotMatch(error.toString(), /evil/);
    }
  });

  test("is the text itself where there is no WebCrypto", async (t) => {
    t.mock.getter(globalThis, "crypto", () => ({}));
    const [key, other] = [await cacheKey(REQUEST), await cacheKey({ ...REQUEST, sampleIndex: 9 })];
    assert.match(key, /Answer in JSON/);
    assert.notEqual(key, other);
  });

  test("needs a request", async () => {
    for (const given of [undefined, {}, HOSTILE]) {
      assert.equal((await errorOf(() => cacheKey(given as never))).code, "invalid_input");
    }
  });
});

describe("the cache in memory", () => {
  test("keeps replies apart from those who hold them", async () => {
    const cache = memoryCache();
    const reply = structuredClone(REPLY);
    await cache.set(KEY, reply);
    reply.text = "changed";
    const found = await cache.get(KEY);
    assert.deepEqual(found, REPLY);
    if (found !== undefined) found.text = "changed";
    assert.deepEqual(await cache.get(KEY), REPLY);
    assert.equal(await cache.get(OTHER), undefined);
  });

  test("gives up what was not asked for longest", async () => {
    const cache = memoryCache({ maxEntries: 2 });
    await cache.set("1", REPLY);
    await cache.set("2", REPLY);
    await cache.get("1");
    await cache.set("3", REPLY);
    assert.equal(await cache.get("2"), undefined);
    await cache.set("1", REPLY);
    await cache.set("4", REPLY);
    assert.equal(await cache.get("3"), undefined);
    assert.deepEqual([await cache.get("1"), await cache.get("4")], [REPLY, REPLY]);
  });

  test("holds a whole number of replies", async () => {
    for (const maxEntries of [0, -1, 1.5, NaN, Infinity, "5"]) {
      assert.equal((await errorOf(() => memoryCache({ maxEntries: maxEntries as number }))).path, "maxEntries");
    }
  });

  test("takes replies only", async () => {
    assert.equal((await errorOf(() => memoryCache().set(KEY, {} as never))).code, "judge_failed");
  });
});

describe("the cache in a folder", () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "adk-metrics-cache-"));
  });
  after(() => rmSync(folder, { recursive: true }));

  test("outlives its process, and leaves nothing else behind", async () => {
    const inside = join(folder, "not", "there", "yet");
    assert.equal(await fileCache(inside).get(KEY), undefined);
    await fileCache(inside).set(KEY, REPLY);
    await fileCache(inside).set(KEY, { ...REPLY, text: "no" });
    assert.deepEqual(await fileCache(inside).get(KEY), { ...REPLY, text: "no" });
    assert.deepEqual(readdirSync(inside, { recursive: true }), ["aa", join("aa", `${KEY}.json`)]);
  });

  test("is whole however many write at the same time", async () => {
    const cache = fileCache(join(folder, "crowded"));
    const long = "long ".repeat(50_000);
    const writes = Array.from({ length: 20 }, (_, index) => cache.set(KEY, { text: `${index} ${long}` }));
    const reads = Array.from({ length: 20 }, () => cache.get(KEY));
    await Promise.all(writes);
    for (const found of await Promise.all(reads)) {
      assert.ok(found === undefined || found.text.endsWith(long));
    }
    assert.ok((await cache.get(KEY))?.text.endsWith(long));
  });

  test("counts a file that is broken as absent", async () => {
    const cache = fileCache(join(folder, "broken"));
    await cache.set(KEY, REPLY);
    const file = join(folder, "broken", "aa", `${KEY}.json`);
    const text = readFileSync(file, "utf8");
    for (const broken of ["", text.slice(0, -5), "null", "5", '{"text": 5}']) {
      writeFileSync(file, broken);
      assert.equal(await cache.get(KEY), undefined);
    }
    await cache.set(KEY, REPLY);
    assert.deepEqual(await cache.get(KEY), REPLY);
  });

  test("stays in its folder", async () => {
    const cache = fileCache(join(folder, "inside"));
    for (const key of ["../../etc/passwd", "", "short", "a/b".repeat(9), "a".repeat(300), `${KEY}\0`]) {
      assert.equal((await errorOf(() => cache.get(key))).path, "key");
      assert.equal((await errorOf(() => cache.set(key, REPLY))).path, "key");
    }
  });

  test("reads regular files of a bounded length only", { skip: process.platform === "win32" }, async () => {
    const inside = join(folder, "irregular");
    const cache = fileCache(inside);
    const file = join(inside, "aa", `${KEY}.json`);
    mkdirSync(join(inside, "aa"), { recursive: true });
    const places: (() => void)[] = [
      // Nobody writes to it: reading it would wait for ever.
      () => void execFileSync("mkfifo", [file]),
      () => symlinkSync("/dev/zero", file),
      () => mkdirSync(file),
      // Takes no space on the disk.
      () => (writeFileSync(file, ""), truncateSync(file, 8 * 2 ** 30)),
      // A regular file of which the system says that it is empty, and that never ends.
      ...(existsSync("/proc/self/pagemap") ? [() => symlinkSync("/proc/self/pagemap", file)] : []),
      // Each bracket would take fifty bytes once it is read.
      () => writeFileSync(file, `{"text":"","more":${"[".repeat(1000)}${"]".repeat(1000)}}`),
    ];
    for (const place of places) {
      rmSync(file, { recursive: true, force: true });
      place();
      assert.equal(await cache.get(KEY), undefined);
    }
    await cache.set(KEY, REPLY);
    assert.deepEqual(await cache.get(KEY), REPLY);
    const longest = { text: "\u0001".repeat(1024 * 1024) };
    await cache.set(KEY, longest);
    assert.deepEqual(await cache.get(KEY), longest);
  });

  test("writes through no link in it", { skip: process.platform === "win32" }, async () => {
    const [inside, elsewhere] = [join(folder, "linked"), join(folder, "elsewhere")];
    for (const path of [inside, elsewhere]) mkdirSync(path);
    symlinkSync(elsewhere, join(inside, "aa"));
    const error = await errorOf(() => fileCache(inside).set(KEY, REPLY));
    assert.equal(error.code, "cache_failed");
    assert.match(error.message, /is a link, not a folder/);
    assert.deepEqual(readdirSync(elsewhere), []);
    rmSync(join(inside, "aa"));
    // The entry itself is replaced, not what it leads to.
    mkdirSync(join(inside, "aa"));
    writeFileSync(join(elsewhere, "kept"), "kept");
    symlinkSync(join(elsewhere, "kept"), join(inside, "aa", `${KEY}.json`));
    await fileCache(inside).set(KEY, REPLY);
    assert.equal(readFileSync(join(elsewhere, "kept"), "utf8"), "kept");
    // The cache's own folder may be a link: the user chose it.
    symlinkSync(elsewhere, join(folder, "chosen"));
    await fileCache(join(folder, "chosen")).set(KEY, REPLY);
    assert.deepEqual(await fileCache(elsewhere).get(KEY), REPLY);
  });

  test("needs keys that are texts", async () => {
    for (const key of [undefined, null, 12345678, Symbol("12345678"), [KEY], { toString: () => KEY }]) {
      for (const work of [
        (cache: JudgeCache) => cache.get(key as never),
        (cache: JudgeCache) => cache.set(key as never, REPLY),
      ]) {
        assert.equal((await errorOf(() => work(fileCache(join(folder, "keys"))))).path, "key");
      }
    }
  });

  test("says what the system says", async () => {
    writeFileSync(join(folder, "file"), "");
    const cache = fileCache(join(folder, "file"));
    for (const work of [() => cache.get(KEY), () => cache.set(KEY, REPLY)]) {
      const error = await errorOf(work);
      assert.equal(error.code, "cache_failed");
      assert.match(error.message, /ENOTDIR|EEXIST/);
    }
    assert.equal((await errorOf(() => fileCache(""))).path, "folder");
    const limited = async () => fileCache(folder, { maxEntries: 5 } as never);
    assert.equal((await errorOf(limited)).path, "options: maxEntries");
    assert.equal(["one", "two"].map(fileCache as never).length, 2);
  });
});

test("the cache in IndexedDB says where there is none", async () => {
  const error = await errorOf(() => indexedDbCache().get(KEY));
  assert.equal(error.code, "cache_failed");
  assert.match(error.message, /this runtime has none/);
  assert.equal((await errorOf(() => indexedDbCache(""))).path, "name");
});
