import { readFileSync } from "node:fs";
import { defineConfig, type Plugin } from "vite";
import { exampleFiles } from "./build/examples.js";
import { offline } from "./build/offline.js";
import { manifest } from "./build/manifest.js";
import { besideFiles, besideImports } from "./build/package-beside.js";

/**
 * What the page may do: run what comes with it, and connect to judges, whose addresses users name. That nobody else is
 * connected to, the worker sees to.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "worker-src 'self'",
  "manifest-src 'self'",
  "connect-src 'self' https: http:",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

/** Writes the policy into the page that is built; the development server needs more than it allows. */
const policy: Plugin = {
  name: "content-security-policy",
  apply: "build",
  transformIndexHtml: () => [
    { tag: "meta", attrs: { "http-equiv": "Content-Security-Policy", content: POLICY }, injectTo: "head-prepend" },
  ],
};

/** Writes the icon into the page: browsers ask for it as often as the address changes. */
const icon: Plugin = {
  name: "icon",
  apply: "build",
  transformIndexHtml: (html) => {
    const svg = readFileSync(new URL("public/icon.svg", import.meta.url), "utf8");
    return html.replace("./icon.svg", `data:image/svg+xml,${encodeURIComponent(svg.replace(/\n\s*/g, ""))}`);
  },
};

/** What is loaded first is one file, however much of it other screens need as well: each file is a request. */
const output = { codeSplitting: { groups: [{ name: "first", tags: ["$initial" as const] }] } };

// Addresses are relative, so that the site can stand in any folder of any static host.
export default defineConfig({
  base: "./",
  server: { fs: { allow: [".."] } },
  build: { target: "es2022", assetsInlineLimit: 0, modulePreload: { polyfill: false }, rolldownOptions: { output } },
  worker: { format: "es", plugins: () => [besideImports()], rolldownOptions: { output } },
  plugins: [policy, icon, exampleFiles(), manifest(), besideImports(), besideFiles(), offline()],
});
