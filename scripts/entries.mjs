/**
 * The modules of `pkg-template/src` that users and runtimes import. `esm` and `cjs` are the names that they have in
 * `dist/esm` and `dist/cjs`, `typed` says that declarations are imported too. A path of `exports` in
 * `pkg-template/package.json` is `./dist/esm/<esm>.js`, its types `./dist/esm/types/<module>.d.ts`.
 */
export const ENTRIES = [
  { module: "index", esm: "index", typed: true },
  { module: "entrypoints/inline", esm: "inline" },
  { module: "entrypoints/node", esm: "node", typed: true },
  { module: "entrypoints/node-cjs", cjs: "index", typed: true },
  { module: "entrypoints/node-inline", esm: "node-inline" },
  { module: "entrypoints/workerd", esm: "workerd" },
  { module: "entrypoints/web", esm: "web", typed: true },
  { module: "entrypoints/web-inline", esm: "web-inline" },
  { module: "entrypoints/web-workerd", esm: "web-workerd" },
  { module: "entrypoints/slim", esm: "slim", typed: true },
  { module: "report/index", esm: "report", cjs: "report", typed: true },
  { module: "testing/vitest", esm: "vitest", typed: true },
  { module: "testing/jest", esm: "jest", cjs: "jest", typed: true },
  { module: "interop/index", esm: "interop", cjs: "interop", typed: true },
  { module: "calibration/index", esm: "calibration", typed: true },
  { module: "entrypoints/queue", esm: "queue", typed: true },
  { module: "cli/main", esm: "cli" },
  { module: "cli/line-worker", esm: "cli-worker" },
];
