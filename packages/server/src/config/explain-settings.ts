/** Explains errors in settings that the schema cannot find, for the operator. */
import { maskValue } from './mask.ts';
import type { Settings } from './schema.ts';

/** Redis could take longer for a larger answer than a call waits, and would delay the commands after it. */
const REDIS_ANSWER_BYTES_MAX = 1024 * 1024;

/** Explains settings that are each valid but contradict each other. */
export function explainContradictions({
  auth,
  cache,
  http,
  idempotency,
  operators,
  redis,
}: Pick<Settings, 'auth' | 'cache' | 'http' | 'idempotency' | 'operators' | 'redis'>): string[] {
  const errors: string[] = [];
  if (auth.issuers.length > 0 && http.publicUrl === null) {
    errors.push(
      'auth.issuers is set, and http.publicUrl is empty: set it to the address under which callers reach the proxy.',
    );
  }
  if (operators.issuer !== null && http.publicUrl === null) {
    errors.push(
      'operators.issuer is set, and http.publicUrl is empty: set it to the address under which browsers reach the proxy.',
    );
  }
  if (idempotency.store === 'redis' && redis.url === null) {
    errors.push('idempotency.store is redis, and redis.url is empty: set it, or idempotency.store to store.');
  }
  if (idempotency.store === 'redis' && idempotency.answerBytesMax > REDIS_ANSWER_BYTES_MAX) {
    errors.push(
      'idempotency.store is redis, and idempotency.answerBytesMax is more than 1MiB: set it to 1MiB or less, or idempotency.store to store.',
    );
  }
  if (cache.store === 'redis' && redis.url === null) {
    errors.push('cache.store is redis, and redis.url is empty: set it, or cache.store to memory.');
  }
  return errors;
}

/** Explains errors in entries of `egress.allow`. Masks a password in an entry. */
export function explainEgressErrors(errors: readonly { entry: string; message: string }[]): string[] {
  return errors.map(
    ({ entry, message }) => `egress.allow: "${maskValue('egress.allow', entry)}": ${message}`,
  );
}
