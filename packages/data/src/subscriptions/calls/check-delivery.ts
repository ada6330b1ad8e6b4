/**
 * Checks a stored delivery against the present state of its subscription's key: since the changes were read, the key
 * may have ended, or its policy may have been changed. Checks the fields in the delivery and those of the domain.
 */
import { createHash } from 'node:crypto';
import { SingleFlightCache } from '@erp-proxy/async/tasks';
import { type Client, type Keys, PROXY_CLIENT, StoredPolicyError } from '@erp-proxy/control/keys';
import { authorizeData, explainCall, hasFieldRules, hasSameFieldRules } from '@erp-proxy/gateway/call';
import { decodeString, findValue, type JsonSpan, readMembers } from '@erp-proxy/json';
import type { ReadRefusal } from '../change-reader.ts';
import type { CheckDelivery } from '../outbox.ts';
import type { RecordSubscription } from '../row.ts';

/** A read call that returns the content of a delivery. */
export interface Reading {
  /** Id of the key. */
  key: string;
  /** Name of the instance. */
  instance: string;
  model: string;
  /** Names of fields, at least one. */
  fields: readonly string[];
}

/**
 * Returns why the key may not make the read call; null if it may. Asks the server about the fields, without reading a
 * record. Never rejects.
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

/** How many allowed read calls are remembered, and for how long. */
const READINGS_MAX = 10_000;
const REMEMBERED_MS = 24 * 3_600_000;

export function createDeliveryCheck({ keys, check, clock, nowMs }: DeliveryCheckDeps): CheckDelivery {
  /** Results of `check`, by field rules and read call. */
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
    // Only the server knows which fields depend on others. If it does not answer, nothing is sent.
    const { refusal } = await checked.get(hash([client.policy?.policy.fields, reading]), async () => {
      const value = { refusal: await check(reading, signal) };
      // The policy may have changed during the check.
      const later = await findClient(subscription, keys);
      const isSame = !('problem' in later) && hasSameFieldRules(client, later);
      return { value, ttlMs: value.refusal === null && isSame ? REMEMBERED_MS : 0 };
    });
    if (refusal === null) return null;
    // The reason is logged, so a summary without Odoo's message takes precedence.
    return refusal.summary ?? refusal.problem;
  };
}

/** Hashed, because field rules can be long. */
function hash(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64');
}

function explain(message: string): string {
  return `policy_denied: ${message}`;
}

/**
 * The read call that would return the content of a delivery. `bytes`: the body of the delivery, which the proxy has
 * made.
 */
function describeReading(bytes: Uint8Array, key: string): Reading {
  const body = readMembers(bytes, { kind: 'object', start: 0, end: bytes.length });
  const data = readMembers(bytes, findValue(body, 'data') as JsonSpan);
  const record = findValue(data, 'record');
  const fields = record?.kind === 'object' ? readMembers(bytes, record).map(({ name }) => name) : [];
  const text = (name: string) => {
    const value = findValue(data, name);
    return value === undefined ? '' : decodeString(bytes, value);
  };
  // A call that names no field would read all fields.
  return {
    key,
    instance: text('instance'),
    model: text('model'),
    fields: fields.length === 0 ? ['id'] : fields,
  };
}

/** The call includes the domain: a match reveals something about the fields that it names. */
function buildCall({ instance, model, fields }: Reading, domain: readonly unknown[]): object {
  return {
    action: 'search_read',
    model_id: model,
    params: [domain],
    keyword: { fields },
    erp_instance: { name: instance },
  };
}

/** Finds the client in whose name a subscription reads and sends. */
export async function findClient(
  { key }: Pick<RecordSubscription, 'key'>,
  keys: Pick<Keys, 'findClient'>,
): Promise<Client | ReadRefusal> {
  if (key === null) return PROXY_CLIENT;
  try {
    const found = await keys.findClient(key);
    return 'refused' in found ? explainKey(key, found.refused) : found;
  } catch (error) {
    const problem =
      error instanceof StoredPolicyError
        ? error.message
        : 'The store does not answer, so that the key cannot be read.';
    return { problem, isKeyOver: false };
  }
}

function explainKey(key: string, refused: string): ReadRefusal {
  const why = refused === 'unknown' ? 'does not exist' : `is ${refused}`;
  return {
    problem: `The key ${key} ${why}: give the subscription another one, then resume it.`,
    isKeyOver: true,
  };
}
