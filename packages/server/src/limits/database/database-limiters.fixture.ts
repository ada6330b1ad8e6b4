/** A gate under a clock that the test sets, and visitors to it. */
import {
  DatabaseLimiters,
  type DatabaseLimitersOptions,
  type Permit,
  type PermitRequest,
  type PermitResult,
  type Refusal,
} from './database-limiters.ts';

export const DATABASE = 'https://erp.example.com prod';

export interface LimitersTest {
  gate: DatabaseLimiters;
  clock: { nowMs: number };
  visit(changes?: Partial<PermitRequest>): ReturnType<DatabaseLimiters['enter']>;
  /** Enters and leaves again after so long. */
  pass(result: PermitResult, tookMs?: number, changes?: Partial<PermitRequest>): void;
}

/** Without changes at most two calls run at once. */
export function openLimiters(changes: Partial<DatabaseLimitersOptions> = {}): LimitersTest {
  const clock = { nowMs: 1_000_000 };
  const gate = new DatabaseLimiters({
    concurrency: { initial: 2, min: 1, max: 2 },
    queueMax: 1000,
    databasesMax: 100,
    nowMs: () => clock.nowMs,
    random: () => 0,
    ...changes,
  });
  const visit = (visitor: Partial<PermitRequest> = {}) => gate.enter(makePermitRequest(clock, visitor));
  const pass = (result: PermitResult, tookMs = 0, visitor: Partial<PermitRequest> = {}) => {
    const turn = expectPermit(visit(visitor));
    clock.nowMs += tookMs;
    turn.leave(result);
  };
  return { gate, clock, visit, pass };
}

function makePermitRequest(
  { nowMs }: { nowMs: number },
  changes: Partial<PermitRequest> = {},
): PermitRequest {
  const visitor = {
    database: DATABASE,
    client: 'a',
    deadlineMs: nowMs + 15_000,
    signal: new AbortController().signal,
    bound: null,
  };
  // With getters as they are: who shares a call may bring it more time later.
  return Object.defineProperties(visitor, Object.getOwnPropertyDescriptors(changes));
}

/** Fails where it is not a turn at once. */
export function expectPermit(outcome: Permit | Refusal | Promise<Permit | Refusal>): Permit {
  if (!('leave' in outcome)) throw new Error(`no turn at once: ${JSON.stringify(outcome)}`);
  return outcome;
}
