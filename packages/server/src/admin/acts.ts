/** Describes what one administrator changes, as records of the audit. */
import { isDeepStrictEqual } from 'node:util';
import type { AuditActView } from '@erp-proxy/contract';
import type { Audit } from '../audit/audit.ts';
import type { DescribeReseal } from '../instances/instances.ts';
import type { DescribeKeyRotationAct } from '../key-rotation/key-rotation.ts';
import type { AuditBatch } from '../stores/ports/audit.ts';
import type { DescribeReseal as DescribeSecretReseal } from '../subscriptions/subscriptions.ts';
import type { Actor } from './admin.ts';
import { showTimeOrNull } from './time.ts';

export type Changes = AuditActView['changes'];

/** Creates the audit record of a change, which the store appends in the same transaction. */
export type DescribeAct = (action: string, target: string, changes: Changes) => AuditBatch;

export function createActDescriber(audit: Pick<Audit, 'prepareAct'>, actor: Actor): DescribeAct {
  const { name, address, requestId } = actor;
  return (action, target, changes) =>
    audit.prepareAct({ actor: name, address, requestId, action, target, changes });
}

/** Stands for a secret in the audit, which records only that it changed. */
export const SECRET = '(secret)';

/** Creates audit records of key rotation. */
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

export function createSecretResealDescriber(describeAct: DescribeAct): DescribeSecretReseal {
  return (name, { from, to }) =>
    describeAct('vault.reseal', `subscription ${name}`, { master_key: { from, to } });
}

/** Lists the members that differ. A missing member counts as null. */
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
