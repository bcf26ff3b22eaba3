import { AdkMetricsError } from "../errors.js";

/** Whether this is a page or one of its workers. */
export function isPage(): boolean {
  return typeof navigator === "object" && typeof location === "object";
}

/**
 * Asks a server. Where the page's Content-Security-Policy forbids that, `fetch` fails as if the server had not answered, and
 * only an event tells why.
 *
 * @throws {AdkMetricsError} `judge_failed` with what the policy has to allow.
 */
export async function underPolicy<T>(url: string, ask: () => Promise<T>): Promise<T> {
  if (!isPage() || typeof addEventListener !== "function") return ask();
  const origin = originOf(url);
  let directive: string | undefined;
  const onViolation = ({ blockedURI, disposition, effectiveDirective }: SecurityPolicyViolationEvent) => {
    if (disposition === "enforce" && originOf(blockedURI) === origin) directive = effectiveDirective;
  };
  addEventListener("securitypolicyviolation", onViolation);
  try {
    return await ask();
  } catch (error) {
    // The event has a task of its own, which may come after the rejection.
    await new Promise((resolve) => setTimeout(resolve));
    if (directive === undefined) throw error;
    throw new AdkMetricsError(
      "judge_failed",
      `this page's Content-Security-Policy does not allow requests to ${origin}`,
      {
        help: `Add this to the policy: \`${directive} ${origin}\``,
        retryable: false,
        cause: error,
      },
    );
  } finally {
    removeEventListener("securitypolicyviolation", onViolation);
  }
}

function originOf(url: string): string | undefined {
  try {
    return new URL(url).origin;
  } catch {
    return undefined;
  }
}
