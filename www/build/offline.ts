/**
 * A service worker that keeps every file of the site, so that it works without a network once it was loaded. It is written
 * when all files are known. Workbox would do it too, with 323 packages whose lock file npm cannot install from.
 */

import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Plugin, ResolvedConfig } from "vite";

export function offline(): Plugin {
  let config: ResolvedConfig;
  return {
    name: "offline",
    apply: "build",
    configResolved: (resolved) => {
      config = resolved;
    },
    closeBundle: () => {
      const folder = config.build.outDir;
      const files = readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && entry.name !== "sw.js")
        .map((entry) => join(entry.parentPath, entry.name).slice(join(folder, "/").length).replaceAll("\\", "/"))
        .sort();
      const hash = createHash("sha256");
      for (const file of files) hash.update(file).update(readFileSync(join(folder, file)));
      writeFileSync(join(folder, "sw.js"), workerOf(files, hash.digest("hex").slice(0, 16)));
    },
  };
}

/**
 * The names of assets hold their hashes: what an older version has of them is taken over, or what the page loaded before.
 * Everything else is loaded. Others at the same origin have caches too, and may be playgrounds in other folders.
 */
function workerOf(files: readonly string[], version: string): string {
  return `const OWN = "adk-metrics playground " + registration.scope + " ";
const CACHE = OWN + "${version}";
const FILES = ${JSON.stringify(["./", ...files.filter((file) => file !== "index.html")])};

const ownCaches = async () => (await caches.keys()).filter((name) => name.startsWith(OWN));

async function kept(file) {
  for (const name of await ownCaches()) {
    const known = await (await caches.open(name)).match(file);
    if (known !== undefined) return known;
  }
}

async function install() {
  const cache = await caches.open(CACHE);
  await Promise.all(
    FILES.map(async (file) => {
      const isAsset = file.startsWith("assets/");
      const known = isAsset ? await kept(file) : undefined;
      const response = known ?? (await fetch(file, { cache: isAsset ? "default" : "no-cache" }));
      if (!response.ok) throw new Error(file + ": " + response.status);
      await cache.put(file, response);
    }),
  );
  await skipWaiting();
}

async function activate() {
  for (const name of await ownCaches()) if (name !== CACHE) await caches.delete(name);
  await clients.claim();
}

async function answered(request) {
  const cache = await caches.open(CACHE);
  return (await cache.match(request, { ignoreSearch: true })) ?? fetch(request);
}

addEventListener("install", (event) => event.waitUntil(install()));
addEventListener("activate", (event) => event.waitUntil(activate()));
addEventListener("fetch", (event) => {
  const { method, url } = event.request;
  if (method === "GET" && url.startsWith(registration.scope)) event.respondWith(answered(event.request));
});
`;
}
