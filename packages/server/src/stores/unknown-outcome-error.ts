/** A change that the store may have made or not: the answer to the commit did not arrive. */
import { StoreError } from './store-error.ts';

export class UnknownOutcomeError extends StoreError {
  override readonly name = 'UnknownOutcomeError';
}
