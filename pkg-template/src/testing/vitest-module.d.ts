/** What is used of Vitest, which is no dependency of this package. */
declare module "vitest" {
  export const expect: { extend(matchers: object): void };
}
