const adk = require("adk-metrics");
require("adk-metrics/jest");
const { define } = require("./matchers.cjs");

define({ test, expect, adk, folder: `${__dirname}/files` });
