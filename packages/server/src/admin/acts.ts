/** The acts of one administrator: what changed, as the audit keeps it. */
import { isDeepStrictEqual } from 'node:util';
import type { AuditActView } from '@erp-proxy/contract';
import type { Audit } from '../audit/audit.ts';
import type { Actor } from './admin.ts';
import { AdminError, describeProblem } from './admin-error.ts';

export type Changes = AuditActView['changes'];

/** Resolves when the act is in the store. To be told after it is done: what failed is no act. */
export type RecordAct = (action: string, target: string, changes: Changes) => Promise<void>;

export function createActRecorder(audit: Pick<Audit, 'recordAct'>, actor: Actor): RecordAct {
  return async (action, target, changes) => {
    const { name, address, requestId } = actor;
    try {
      await audit.recordAct({ actor: name, address, requestId, action, target, changes });
    } catch (cause) {
      const detail = `${action} of ${target} is done, but could not be written to the audit: look at it before you do anything again.`;
      throw new AdminError(describeProblem(503, detail), { cause });
    }
  };
}

/** Members of either that differ. One that is left out counts as null. */
export function compareMembers(from: object, to: object): Changes {
  const before = new Map(Object.entries(from));
  const after = new Map(Object.entries(to));
  const changes: Changes = {};
  for (const name of new Set([...before.keys(), ...after.keys()])) {
    const change = { from: before.get(name) ?? null, to: after.get(name) ?? null };
    if (!isDeepStrictEqual(change.from, change.to)) changes[name] = change;
  }
  return changes;
}
