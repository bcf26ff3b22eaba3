// Builds by Rspack as it is configured without a configuration; what it warns of is printed.

import { rspack } from "@rspack/core";

const settings = { mode: "production", performance: false, plugins: [new rspack.HtmlRspackPlugin()] };
rspack(settings, (error, stats) => {
  if (error) throw error;
  console.log(stats.toString({ all: false, warnings: true, errors: true }));
  process.exitCode = stats.hasErrors() ? 1 : 0;
});
