/** A gate under a clock that the test sets, and visitors to it. */
import { Gate, type GateOptions, type Refusal, type Turn, type TurnResult, type Visitor } from './gate.ts';

export const DATABASE = 'https://erp.example.com prod';

export interface GateTest {
  gate: Gate;
  clock: { nowMs: number };
  visit(changes?: Partial<Visitor>): ReturnType<Gate['enter']>;
  /** Enters and leaves again after so long. */
  pass(result: TurnResult, tookMs?: number, changes?: Partial<Visitor>): void;
}

/** Without changes at most two calls run at once. */
export function openGate(changes: Partial<GateOptions> = {}): GateTest {
  const clock = { nowMs: 1_000_000 };
  const gate = new Gate({
    concurrency: { initial: 2, min: 1, max: 2 },
    queueMax: 1000,
    databasesMax: 100,
    nowMs: () => clock.nowMs,
    random: () => 0,
    ...changes,
  });
  const visit = (visitor: Partial<Visitor> = {}) => gate.enter(makeVisitor(clock, visitor));
  const pass = (result: TurnResult, tookMs = 0, visitor: Partial<Visitor> = {}) => {
    const turn = expectTurn(visit(visitor));
    clock.nowMs += tookMs;
    turn.leave(result);
  };
  return { gate, clock, visit, pass };
}

function makeVisitor({ nowMs }: { nowMs: number }, changes: Partial<Visitor> = {}): Visitor {
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
export function expectTurn(outcome: Turn | Refusal | Promise<Turn | Refusal>): Turn {
  if (!('leave' in outcome)) throw new Error(`no turn at once: ${JSON.stringify(outcome)}`);
  return outcome;
}
