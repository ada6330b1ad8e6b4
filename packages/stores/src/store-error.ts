/**
 * A store that cannot be opened or used. The message tells the operator what is wrong and what to do. It may name a
 * file, so it is for the terminal and the log, never for a caller. It must not contain a credential from the URL of the
 * store.
 */
export class StoreError extends Error {
  override readonly name: string = 'StoreError';
  /** Description of the fault for administrators, without the name of the store. */
  readonly reason: string | null;

  constructor(message: string, { reason, ...options }: ErrorOptions & { reason?: string } = {}) {
    super(message, options);
    this.reason = reason ?? null;
  }
}

/** A change that the store may or may not have made: the answer to the commit did not arrive. */
export class UnknownOutcomeError extends StoreError {
  override readonly name = 'UnknownOutcomeError';
}
