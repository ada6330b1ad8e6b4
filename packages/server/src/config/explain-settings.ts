/** Explains errors in settings that the schema cannot find, for the operator. */
import { maskValue } from './mask.ts';
import type { Settings } from './schema.ts';

/** Redis could take longer for a larger answer than a call waits, and would delay the commands after it. */
const REDIS_ANSWER_BYTES_MAX = 1024 * 1024;

/** Explains settings that are each valid but contradict each other. */
export function explainContradictions({
  audit,
  auth,
  cache,
  http,
  idempotency,
  keys,
  operators,
  otel,
  redis,
  signIn,
  vault,
}: Pick<
  Settings,
  | 'audit'
  | 'auth'
  | 'cache'
  | 'http'
  | 'idempotency'
  | 'keys'
  | 'operators'
  | 'otel'
  | 'redis'
  | 'signIn'
  | 'vault'
>): string[] {
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
  if (signIn.providers.length + signIn.odoo.length > 0 && (vault.masterKey ?? keys.hashSecret) === null) {
    errors.push(
      'signIn is set, and vault.masterKey is empty: set it. Without it, whoever has a copy of the store could sign tokens of persons.',
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
  if (audit.sink === 'file' && audit.sinkPath === null) {
    errors.push('audit.sink is file, and audit.sinkPath is empty: set it to the path of the file.');
  }
  if (audit.sink === 'otlp' && (otel.endpoint === null || !otel.enabled)) {
    errors.push(
      'audit.sink is otlp, and otel.endpoint is empty or otel.enabled is false: set otel.endpoint to the address of the collector.',
    );
  }
  if (
    (otel.logs || otel.metrics || audit.sink === 'otlp') &&
    otel.endpoint !== null &&
    !isPathOfTraces(otel.endpoint)
  ) {
    errors.push(
      'otel.logs, otel.metrics or audit.sink: otlp is set, and the path of otel.endpoint does not end with /v1/traces: write it with that end, which is replaced for the others.',
    );
  }
  return errors;
}

function isPathOfTraces(endpoint: string): boolean {
  const { pathname } = new URL(endpoint);
  return pathname === '/' || pathname.endsWith('/v1/traces');
}

/** Explains errors in entries of `egress.allow`. Masks a password in an entry. */
export function explainEgressErrors(errors: readonly { entry: string; message: string }[]): string[] {
  return errors.map(
    ({ entry, message }) => `egress.allow: "${maskValue('egress.allow', entry)}": ${message}`,
  );
}
