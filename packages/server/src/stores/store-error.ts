/**
 * A store that cannot be opened, in words for the operator: what is wrong and what to do. It may name a file, so it is
 * for the terminal and the log, never for a caller. It must not carry a credential of a store address.
 */
export class StoreError extends Error {
  override readonly name = 'StoreError';
}
