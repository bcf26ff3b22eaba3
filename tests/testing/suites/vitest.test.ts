import * as adk from "adk-metrics";
import "adk-metrics/vitest";
import { expect, test } from "vitest";
import { define } from "./matchers.cjs";

define({ test, expect, adk, folder: new URL("files", import.meta.url).pathname });
