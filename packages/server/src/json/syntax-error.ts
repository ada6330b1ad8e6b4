/**
 * Says that bytes are not JSON, and where. It never quotes the bytes: a body may hold credentials, and a
 * message ends up in answers and logs.
 */

export class JsonSyntaxError extends Error {
  override readonly name = 'JsonSyntaxError';
  /** Index of the first byte that cannot stand where it stands; the length where the text ends too early. */
  readonly offset: number;
  readonly reason: string;

  constructor(offset: number, reason: string) {
    super(`Not valid JSON at byte ${offset}: ${reason}.`);
    this.offset = offset;
    this.reason = reason;
  }
}
