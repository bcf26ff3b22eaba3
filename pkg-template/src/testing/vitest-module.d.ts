/** What is used of Vitest, which is not a dependency of this package. */
declare module "vitest" {
  export const expect: { extend(matchers: object): void };
}
