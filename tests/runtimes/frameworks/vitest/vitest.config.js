import { playwright } from "@vitest/browser-playwright";
import { defineConfig } from "vitest/config";

const launchOptions = { executablePath: process.env.CHROMIUM, args: JSON.parse(process.env.CHROMIUM_FLAGS ?? "[]") };

export default defineConfig({
  test: {
    browser: {
      enabled: true,
      headless: true,
      provider: playwright({ launchOptions }),
      instances: [{ browser: "chromium" }],
      screenshotFailures: false,
    },
  },
});
