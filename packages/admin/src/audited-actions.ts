/** Describes what one administrator changes, as records of the audit. */
import { isDeepStrictEqual } from 'node:util';
import type { ActorView, AuditAdminView } from '@erp-proxy/contract';
import type { AdminAction, Audit } from '@erp-proxy/control/audit';
import type { DescribeConnectionReseal } from '@erp-proxy/control/connections';
import type { DescribeReseal } from '@erp-proxy/control/instances';
import type { DescribeKeyRotation } from '@erp-proxy/control/key-rotation';
import type { DescribeReseal as DescribeSecretReseal } from '@erp-proxy/data/subscriptions';
import type { AuditBatch, ConnectionId } from '@erp-proxy/stores/ports';
import { showTimeOrNull } from './time.ts';

export type Changes = AuditAdminView['changes'];

/**
 * Creates the audit record of a change, which the store appends in the same transaction. `instances`: names and
 * patterns of the instances that it concerns; null or left out: it reaches further.
 */
export type DescribeAction = (
  action: string,
  target: string,
  changes: Changes,
  instances?: readonly string[] | null,
) => AuditBatch;

/** Who makes a change, and from where. */
export type AuditedActor = ActorView & Pick<AdminAction, 'address' | 'requestId'>;

export function createActionDescriber(
  audit: Pick<Audit, 'prepareAdminAction'>,
  actor: AuditedActor,
): DescribeAction {
  const { address, requestId } = actor;
  return (action, target, changes, instances = null) =>
    audit.prepareAdminAction({ actor, address, requestId, action, target, instances, changes });
}

/** Stands for a secret in the audit, which records only that it changed. */
export const SECRET = '(secret)';

/** Creates audit records of key rotation. */
export function createKeyRotationDescriber(describeAction: DescribeAction): DescribeKeyRotation {
  return (action) => {
    const name = action.kind === 'rotated' ? 'instance.rotate-key' : 'instance.revoke-key';
    return describeAction(name, `instance ${action.instance}`, listKeyChanges(action), [action.instance]);
  };
}

/** Creates audit records of the renewal of the key of a person. */
export function createPersonKeyDescriber(describeAction: DescribeAction) {
  return ({ instance, person }: ConnectionId, action: KeyAction): AuditBatch => {
    const name = action.kind === 'rotated' ? 'connection.rotate-key' : 'connection.revoke-key';
    return describeAction(name, `connection ${instance} ${person}`, listKeyChanges(action), [instance]);
  };
}

type KeyAction = Parameters<DescribeKeyRotation>[0];

function listKeyChanges({ kind, expiresAt: { from, to } }: KeyAction): Changes {
  return {
    ...compareMembers({ key_expires_at: showTimeOrNull(from) }, { key_expires_at: showTimeOrNull(to) }),
    api_key: { from: SECRET, to: kind === 'rotated' ? SECRET : null },
  };
}

export function createResealDescriber(describeAction: DescribeAction): DescribeReseal {
  return (instance, { from, to }) =>
    describeAction('vault.reseal', `instance ${instance}`, { master_key: { from, to } });
}

export function createConnectionResealDescriber(describeAction: DescribeAction): DescribeConnectionReseal {
  return ({ instance, person }, { from, to }) =>
    describeAction('vault.reseal', `connection ${instance} ${person}`, { master_key: { from, to } });
}

export function createSecretResealDescriber(describeAction: DescribeAction): DescribeSecretReseal {
  return (name, { from, to }) =>
    describeAction('vault.reseal', `subscription ${name}`, { master_key: { from, to } });
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
