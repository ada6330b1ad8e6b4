/** Node's own HTTP parser, which the tests compare with. */
declare module '_http_common' {
  interface HTTPParser {
    [callback: number]: (...values: never[]) => unknown;
    initialize(type: number, resource: object, headBytesMax?: number): void;
    /** The number of bytes that were read, or an error. */
    execute(bytes: Uint8Array): number | Error;
  }
  export const HTTPParser: {
    new (): HTTPParser;
    readonly REQUEST: number;
    readonly kOnHeaders: number;
    readonly kOnHeadersComplete: number;
    readonly kOnBody: number;
    readonly kOnMessageComplete: number;
  };
}
