/** As bundlers for Cloudflare Workers import it. */
declare module "*.wasm" {
  const module: WebAssembly.Module;
  export default module;
}
