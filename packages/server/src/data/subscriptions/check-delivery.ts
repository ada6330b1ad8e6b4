/**
 * Checks a stored delivery by the key of its subscription as it is now: since the reading, the key may have ended, or
 * its policy may have been changed. The fields are those that the delivery holds, and those of the domain.
 */
import { createHash } from 'node:crypto';
import { SingleFlightCache } from '@erp-proxy/async/tasks';
import { decodeString, findValue, type JsonSpan, readMembers } from '@erp-proxy/json';
import { hasFieldRules, hasSameFieldRules } from '../../execute/call/apply-field-rules.ts';
import { authorizeData } from '../../execute/call/authorize.ts';
import { explainCall } from '../../execute/call/explain.ts';
import type { Keys } from '../../keys/keys.ts';
import type { ReadRefusal } from '../../subscriptions/change-reader.ts';
import type { CheckDelivery } from '../../subscriptions/outbox.ts';
import { findClient } from './find-client.ts';

/** A reading that gives what a delivery holds. */
export interface Reading {
  /** Id of the key. */
  key: string;
  /** Name of the instance. */
  instance: string;
  model: string;
  /** At least one. */
  fields: readonly string[];
}

/**
 * Why the key may not make the reading, by what the server says of the fields; null: it may. Asks the server without
 * reading a record. Never rejects.
 */
export type CheckReading = (reading: Reading, signal: AbortSignal) => Promise<ReadRefusal | null>;

export interface DeliveryCheckDeps {
  keys: Pick<Keys, 'findClient'>;
  check: CheckReading;
  /** Milliseconds since 1970. */
  clock: () => number;
  /** Monotonic clock in milliseconds. */
  nowMs: () => number;
}

/** Allowed readings that are remembered, and for how long. */
const READINGS_MAX = 10_000;
const REMEMBERED_MS = 24 * 3_600_000;

export function createDeliveryCheck({ keys, check, clock, nowMs }: DeliveryCheckDeps): CheckDelivery {
  /** What `check` has said, by field rules and reading. */
  const checked = new SingleFlightCache<{ refusal: ReadRefusal | null }>(READINGS_MAX, nowMs);

  return async (subscription, { body }, signal) => {
    if (!('key' in subscription) || subscription.key === null) return null;
    const client = await findClient(subscription, keys);
    if ('problem' in client) return client.problem;
    const denied = authorizeData(client, 'subscriptions');
    if (denied !== null) return explain(denied.message);
    const reading = describeReading(Buffer.from(body), subscription.key);
    const call = buildCall(reading, subscription.domain);
    const explained = explainCall(client.key, client.policy, { call }, clock());
    if (!explained.allowed) return explain(explained.message);
    if (explained.approval !== null)
      return explain(`Reading needs an approval, because of \`${explained.approval}\`.`);
    if (!hasFieldRules(client) || reading.fields.every((field) => field === 'id')) return null;
    // Only the server knows which fields show others. Without its answer, nothing is sent.
    const { refusal } = await checked.get(hash([client.policy?.policy.fields, reading]), async () => {
      const value = { refusal: await check(reading, signal) };
      // The check may have applied other rules.
      const later = await findClient(subscription, keys);
      const isSame = !('problem' in later) && hasSameFieldRules(client, later);
      return { value, ttlMs: value.refusal === null && isSame ? REMEMBERED_MS : 0 };
    });
    if (refusal === null) return null;
    // The reason is logged, without what Odoo says.
    return refusal.summary ?? refusal.problem;
  };
}

/** Rules can be long. */
function hash(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64');
}

function explain(message: string): string {
  return `policy_denied: ${message}`;
}

/** The reading of what the delivery holds. `bytes`: the body of the delivery, which is ours. */
function describeReading(bytes: Uint8Array, key: string): Reading {
  const body = readMembers(bytes, { kind: 'object', start: 0, end: bytes.length });
  const data = readMembers(bytes, findValue(body, 'data') as JsonSpan);
  const record = findValue(data, 'record');
  const fields = record?.kind === 'object' ? readMembers(bytes, record).map(({ name }) => name) : [];
  const text = (name: string) => {
    const value = findValue(data, name);
    return value === undefined ? '' : decodeString(bytes, value);
  };
  // A call that names no field would ask for all.
  return {
    key,
    instance: text('instance'),
    model: text('model'),
    fields: fields.length === 0 ? ['id'] : fields,
  };
}

/** That a record matches the domain tells of the values of its fields. */
function buildCall({ instance, model, fields }: Reading, domain: readonly unknown[]): object {
  return {
    action: 'search_read',
    model_id: model,
    params: [domain],
    keyword: { fields },
    erp_instance: { name: instance },
  };
}
