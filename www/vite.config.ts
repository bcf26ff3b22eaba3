import { defineConfig } from "vite";

// Addresses are relative, so that the site can stand in any folder of any static host.
export default defineConfig({
  base: "./",
  server: { fs: { allow: [".."] } },
  build: { target: "es2022", assetsInlineLimit: 0, modulePreload: { polyfill: false } },
  worker: { format: "es" },
});
