/** The part of WebAssembly that is used. Its types are neither in those of Node nor in the library without the DOM. */
declare namespace WebAssembly {
  class Module {
    constructor(code: Uint8Array);
  }
  class Instance {
    constructor(module: Module);
    readonly exports: Record<string, unknown>;
  }
}
