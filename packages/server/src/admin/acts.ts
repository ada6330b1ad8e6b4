/** The acts of one administrator: what changed, as the audit keeps it. */
import { isDeepStrictEqual } from 'node:util';
import type { AuditActView } from '@erp-proxy/contract';
import type { Audit } from '../audit/audit.ts';
import type { DescribeReseal } from '../instances/instances.ts';
import type { DescribeKeyRotationAct } from '../key-rotation/key-rotation.ts';
import type { AuditBatch } from '../stores/ports.ts';
import type { Actor } from './admin.ts';
import { showTimeOrNull } from './time.ts';

export type Changes = AuditActView['changes'];

/** The record of an act, for the store to append in the transaction of the change that it is about. */
export type DescribeAct = (action: string, target: string, changes: Changes) => AuditBatch;

export function createActDescriber(audit: Pick<Audit, 'prepareAct'>, actor: Actor): DescribeAct {
  const { name, address, requestId } = actor;
  return (action, target, changes) =>
    audit.prepareAct({ actor: name, address, requestId, action, target, changes });
}

/** Stands in the audit where a secret was: that it changed is told, and nothing of it. */
export const SECRET = '(secret)';

/** Acts of the care of keys at Odoo. */
export function createKeyRotationDescriber(describeAct: DescribeAct): DescribeKeyRotationAct {
  return ({ kind, instance, expiresAt: { from, to } }) => {
    const isRotated = kind === 'rotated';
    return describeAct(isRotated ? 'instance.rotate-key' : 'instance.revoke-key', `instance ${instance}`, {
      ...compareMembers({ key_expires_at: showTimeOrNull(from) }, { key_expires_at: showTimeOrNull(to) }),
      api_key: { from: SECRET, to: isRotated ? SECRET : null },
    });
  };
}

export function createResealDescriber(describeAct: DescribeAct): DescribeReseal {
  return (instance, { from, to }) =>
    describeAct('vault.reseal', `instance ${instance}`, { master_key: { from, to } });
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
