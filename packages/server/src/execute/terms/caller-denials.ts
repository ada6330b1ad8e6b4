/** Denials about the caller's request that several steps return. */
import { StoredPolicyError } from '../../keys/stored-policy.ts';
import { Denial, type DenialMore } from './denial.ts';
import type { Dialect } from './dialect.ts';

/**
 * The client key is not accepted. Only log and audit get the reason, because callers must not learn which keys exist.
 */
export function denyKey({ keyHeaders }: Dialect, more: Pick<DenialMore, 'detail' | 'refusedKey'>): Denial {
  const message = `The client key in the header ${keyHeaders[0]} is missing or not valid; send one that is.`;
  return new Denial('unauthorized', message, more);
}

/** For `askStore`: the stored policy of a key is not valid. */
export const UNREADABLE_POLICY = {
  ErrorClass: StoredPolicyError,
  message: 'The policy of this key cannot be read',
};

/** A method of the model was called with ids, which would become its first argument. */
export function denyIds(model: string, method: string): Denial {
  return new Denial('invalid_params', `\`${model}.${method}\` takes no records: leave \`keyword.ids\` out.`, {
    path: 'keyword.ids',
  });
}
