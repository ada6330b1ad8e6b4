/**
 * A store that cannot be opened or used, in words for the operator: what is wrong and what to do. The message may name a
 * file, so it is for the terminal and the log, never for a caller. It must not carry a credential of a store address.
 */
export class StoreError extends Error {
  override readonly name: string = 'StoreError';
  /** What is wrong, without naming the store: for administrators. */
  readonly reason: string | null;

  constructor(message: string, { reason, ...options }: ErrorOptions & { reason?: string } = {}) {
    super(message, options);
    this.reason = reason ?? null;
  }
}
