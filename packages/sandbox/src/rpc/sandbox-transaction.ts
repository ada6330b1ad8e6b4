/** A transaction that a test opens, changes and ends step by step. Its calls run as the administrator. */
import type { Json, JsonObject } from '../json/value.ts';
import { callMethod } from '../orm/call-method.ts';
import type { Environment } from '../orm/model.ts';
import type { Transaction } from '../orm/store.ts';

/**
 * Nothing is visible to others before the commit. Every row that the transaction changes has the time of its start as
 * `write_date`. Faults of Odoo are thrown as errors with their class as `name`.
 */
export interface SandboxTransaction {
  /** The time with which the transaction stamps rows: `2026-11-21 01:30:31.123456`. */
  readonly startedAt: string;
  /** Returns the id of the new record. Ids follow the order of creation, not the order of commits. */
  create(model: string, values: JsonObject): number;
  write(model: string, ids: number | readonly number[], values: JsonObject): void;
  unlink(model: string, ids: number | readonly number[]): void;
  /** Calls any method. If it fails, its own changes are undone, and the transaction stays usable. */
  call(model: string, method: string, args?: readonly Json[], named?: JsonObject): Json | undefined;
  commit(): void;
  rollback(): void;
}

export function openTransaction(
  environment: Environment,
  store: Transaction,
  onCommit: () => void,
): SandboxTransaction {
  const call: SandboxTransaction['call'] = (model, method, args = [], named = {}) =>
    store.transact(() => callMethod(environment, model, method, args, named));
  const listIds = (ids: number | readonly number[]) => (typeof ids === 'number' ? [ids] : ids);
  return {
    startedAt: environment.startedAt,
    create: (model, values) => call(model, 'create', [values]) as number,
    write: (model, ids, values) => void call(model, 'write', [listIds(ids), values]),
    unlink: (model, ids) => void call(model, 'unlink', [listIds(ids)]),
    call,
    commit: () => {
      store.commit();
      onCommit();
    },
    rollback: () => store.rollback(),
  };
}
