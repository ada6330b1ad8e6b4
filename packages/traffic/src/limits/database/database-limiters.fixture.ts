/** For tests: database limiters with a clock that the test sets, and helpers that acquire permits. */
import {
  DatabaseLimiters,
  type DatabaseLimitersOptions,
  type Permit,
  type PermitRefusal,
  type PermitRequest,
  type PermitResult,
} from './database-limiters.ts';

export const DATABASE = 'https://erp.example.com prod';

export interface TestLimiters {
  databaseLimiters: DatabaseLimiters;
  clock: { nowMs: number };
  acquire(changes?: Partial<PermitRequest>): ReturnType<DatabaseLimiters['acquire']>;
  /** Acquires a permit and releases it after `tookMs`. */
  runCall(result: PermitResult, tookMs?: number, changes?: Partial<PermitRequest>): void;
}

/** By default, at most two calls run at once. */
export function createTestLimiters(changes: Partial<DatabaseLimitersOptions> = {}): TestLimiters {
  const clock = { nowMs: 1_000_000 };
  const databaseLimiters = new DatabaseLimiters({
    concurrency: { initial: 2, min: 1, max: 2 },
    queueMax: 1000,
    databasesMax: 100,
    nowMs: () => clock.nowMs,
    random: () => 0,
    ...changes,
  });
  const acquire = (request: Partial<PermitRequest> = {}) =>
    databaseLimiters.acquire(makePermitRequest(clock, request));
  const runCall = (result: PermitResult, tookMs = 0, request: Partial<PermitRequest> = {}) => {
    const permit = expectPermit(acquire(request));
    clock.nowMs += tookMs;
    permit.release(result);
  };
  return { databaseLimiters, clock, acquire, runCall };
}

function makePermitRequest(
  { nowMs }: { nowMs: number },
  changes: Partial<PermitRequest> = {},
): PermitRequest {
  const request = {
    database: DATABASE,
    client: 'a',
    deadlineMs: nowMs + 15_000,
    signal: new AbortController().signal,
    bound: null,
  };
  // Copies getters as getters: another caller of a shared read may move the deadline later.
  return Object.defineProperties(request, Object.getOwnPropertyDescriptors(changes));
}

/** Throws unless the outcome is a permit that was given at once. */
export function expectPermit(outcome: Permit | PermitRefusal | Promise<Permit | PermitRefusal>): Permit {
  if (!('release' in outcome)) throw new Error(`no permit at once: ${JSON.stringify(outcome)}`);
  return outcome;
}
