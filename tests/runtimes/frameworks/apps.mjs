// The apps: how each is built and served, and where it shows scores. `{port}` is a free port.

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
  Rspack: { folder: "rspack", build: ["build.mjs"], serves: "dist", shows: ["#client"] },
};
