// The apps: how each is built and served, and where it shows scores. `{port}` is a free port. What is not served proves
// itself when it is built.

/** The score that all of them show. */
export const SCORE = "0.5714285714285715";

const next = (bundler) => ({
  folder: "next",
  build: ["node_modules/next/dist/bin/next", "build", `--${bundler}`],
  serve: ["node_modules/next/dist/bin/next", "start", "--hostname", "127.0.0.1", "--port", "{port}"],
  // What its server answers, in Node and at the edge, and what its page shows, from the server and from the browser.
  answers: ["/api/node", "/api/edge"],
  shows: ["#server", "#client"],
});

export const APPS = {
  "Next.js by Turbopack": next("turbopack"),
  "Next.js by webpack": next("webpack"),
  Astro: {
    folder: "astro",
    build: ["node_modules/astro/astro.js", "build"],
    serves: "dist",
    shows: ["#server", "#client"],
  },
  "Nuxt, by Nitro's production build": {
    folder: "nuxt",
    build: ["node_modules/nuxt/bin/nuxt.mjs", "build"],
    serve: [".output/server/index.mjs"],
    answers: ["/api"],
    shows: ["#server", "#client"],
  },
  SvelteKit: {
    folder: "sveltekit",
    build: ["node_modules/vite/bin/vite.js", "build"],
    serve: ["build/index.js"],
    answers: ["/api"],
    shows: ["#server", "#client"],
  },
  Parcel: {
    folder: "parcel",
    build: ["node_modules/parcel/lib/bin.js", "build", "src/index.html", "--no-cache"],
    serves: "dist",
    shows: ["#client"],
  },
  "Vitest's browser mode": { folder: "vitest", build: ["node_modules/vitest/vitest.mjs", "run"], shows: [] },
  Rspack: { folder: "rspack", build: ["build.mjs"], serves: "dist", shows: ["#client"] },
};
