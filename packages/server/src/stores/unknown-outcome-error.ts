/** A change that the store may or may not have made: the answer to the commit did not arrive. */
import { StoreError } from './store-error.ts';

export class UnknownOutcomeError extends StoreError {
  override readonly name = 'UnknownOutcomeError';
}
