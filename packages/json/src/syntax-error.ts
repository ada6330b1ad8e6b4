/**
 * Thrown if the bytes are not JSON. The message has the position and never quotes the bytes: a body may contain
 * credentials, and messages appear in answers and logs.
 */

export class JsonSyntaxError extends Error {
  override readonly name = 'JsonSyntaxError';
  /** Index of the first invalid byte; the length if the text ends too early. */
  readonly offset: number;
  readonly reason: string;

  constructor(offset: number, reason: string) {
    super(`Not valid JSON at byte ${offset}: ${reason}.`);
    this.offset = offset;
    this.reason = reason;
  }
}

/** Thrown if objects and arrays are nested too deeply. The rest of the bytes may not be JSON. */
export class JsonDepthError extends Error {
  override readonly name = 'JsonDepthError';
}
