/**
 * The rules that decide whether this process is healthy. `degraded` is for operators: the process still serves calls.
 * `failed` means that the process must get no traffic. Knows the checked parts only by the members that a rule needs.
 */
import type { CheckState } from '@erp-proxy/contract';

export interface HealthCheck {
  state: CheckState;
  /** Text for operators: the problem and its effect; null if there is none. */
  detail: string | null;
}

export interface Readiness {
  isReady: boolean;
  status: 'ready' | 'degraded' | 'not_ready';
}

export function decideReadiness(checks: readonly HealthCheck[]): Readiness {
  const states = checks.map(({ state }) => state);
  if (states.includes('failed')) return { isReady: false, status: 'not_ready' };
  return { isReady: true, status: states.includes('degraded') ? 'degraded' : 'ready' };
}

const OK: HealthCheck = { state: 'ok', detail: null };

export function checkTraffic(
  { isStopping }: { isStopping: boolean },
  { refusedAbove }: { refusedAbove: number | null },
): HealthCheck {
  if (isStopping) return { state: 'failed', detail: 'shutting down' };
  if (refusedAbove === null) return OK;
  return degraded(
    `client connections above ${refusedAbove} are refused; raise the limit of file descriptors (ulimit -n)`,
  );
}

interface CheckedStore {
  /** Throws or rejects if the store does not answer. */
  probe(): unknown;
  /** Reason why the store takes no changes; null if it takes them. */
  readonly trouble: string | null;
  /** False while changes of other processes may be missed. */
  readonly isWatching: boolean;
}

/** Never `failed`: known keys and instances work for some minutes without the store. */
export async function checkStore(store: CheckedStore): Promise<HealthCheck> {
  try {
    await store.probe();
  } catch {
    return degraded('the store does not answer; known keys and instances work on');
  }
  if (store.trouble !== null) return degraded(`the store takes no changes: ${store.trouble}`);
  return store.isWatching ? OK : degraded('changes made elsewhere do not arrive; see the log');
}

/** Number of waiting audit records from which the audit counts as degraded. */
const AUDIT_WAITING_DEGRADED = 10_000;

export function checkAudit({ waiting, lost }: { waiting: number; lost: number }): HealthCheck {
  if (lost > 0) return degraded(`${lost} records of the audit are lost; see the log`);
  if (waiting < AUDIT_WAITING_DEGRADED) return OK;
  return degraded(`${waiting} records of the audit wait to be written`);
}

/**
 * `warning`: text about keys of instances that expire soon, have expired or could not be replaced; null if there are
 * none.
 */
export function checkInstanceKeys(warning: string | null): HealthCheck {
  return warning === null ? OK : degraded(warning);
}

/** `failure`: reason why the issuer's keys could not be read the last time; null if they could. */
export function checkIssuers(issuers: readonly { issuer: string; failure: string | null }[]): HealthCheck {
  const failed = issuers.filter(({ failure }) => failure !== null).map(({ issuer }) => issuer);
  return failed.length === 0
    ? OK
    : degraded(
        `the keys of ${failed.join(', ')} cannot be read; see the log. Known keys work for some hours`,
      );
}

/**
 * `warning`: text about client keys that expire soon or have just expired; null if there are none. Such keys do not
 * affect other clients.
 */
export function checkClientKeys(warning: string | null): HealthCheck {
  return warning === null ? OK : degraded(warning);
}

/** `failure`: why the sink of the audit does not take records; null if it does. */
export function checkAuditSink({ failure }: { failure: string | null }): HealthCheck {
  return failure === null ? OK : degraded(`the sink of the audit does not take records: ${failure}`);
}

/** `problems`: why new values of secret files are not in use, by setting. */
export function checkSecretFiles(problems: ReadonlyMap<string, string>): HealthCheck {
  if (problems.size === 0) return OK;
  return degraded([...problems].map(([setting, problem]) => `${setting}: ${problem}`).join('; '));
}

interface CheckedRedis {
  /** Reason why Redis cannot be used; null if it can be used. */
  readonly trouble: string | null;
}

export function checkRedis({ trouble }: CheckedRedis, keepsIdempotencyKeys: boolean): HealthCheck {
  if (trouble === null) return OK;
  const detail = 'Redis is away; each process keeps its share of the limits';
  const refused = ', and calls with an idempotency key are refused';
  return degraded(keepsIdempotencyKeys ? detail + refused : detail);
}

function degraded(detail: string): HealthCheck {
  return { state: 'degraded', detail };
}
