import * as adk from "adk-metrics";
import { adkMatchers } from "adk-metrics/jest";
import { expect, test } from "@jest/globals";
import { define } from "./matchers.cjs";

expect.extend(adkMatchers);
define({ test, expect, adk, folder: new URL("files", import.meta.url).pathname });
