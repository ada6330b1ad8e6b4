/**
 * Finds keys whose policies lack entries: for methods that `*` in `models` does not include, for further models that
 * the values or fields of their calls reach, and for fields that hold credentials. Two sources tell which methods a key
 * calls: the statistics of a day, for calls that Odoo has answered, and the audit of an hour, for calls that were
 * denied.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AttentionItem } from '@erp-proxy/contract';
import { readStoredPolicy, StoredPolicyError } from '@erp-proxy/control/keys';
import { findUnknown } from '@erp-proxy/odoo';
import { findSensitivity } from '@erp-proxy/odoo/sensitive';
import { type CompiledPolicy, compilePolicy } from '@erp-proxy/policy';
import { findUnnamed, mayCall } from '@erp-proxy/policy/abilities';
import type { KeyRecord } from '@erp-proxy/stores/ports';
import type { AdminDeps } from './admin.ts';
import { showTime } from './time.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const PAGE_KEYS = 100;
const KEYS_MAX = 2000;
const DENIED_MAX = 100;
/** Maximum methods that one item names. */
const NAMED_MAX = 5;

/** What the policy may have no entry for: the method, another model, or a field that holds a credential. */
type Lacked = 'method' | 'model' | 'field';

interface Called {
  model: string;
  method: string;
  lacked: Lacked;
}

/** Rules by which a call is denied if an entry is missing. Rules of the policy's own `fields` have other names. */
const DENYING_RULES: ReadonlyMap<string, Lacked> = new Map([
  ['allow_unknown_methods', 'method'],
  ['models', 'model'],
  ['sensitive_methods', 'model'],
  ['fields', 'field'],
]);

/** `isCut`: some keys or calls were not checked. */
export async function listUnnamedMethods(
  deps: AdminDeps,
  now: number,
): Promise<{ items: AttentionItem[]; isCut: boolean }> {
  const called = new Map<string, Called[]>();
  const add = (client: string, call: Called) => {
    const { model, method, lacked } = call;
    if (lacked === 'method' && findUnknown(model, method) === null && findSensitivity(model, method) === null)
      return;
    const known = called.get(client) ?? [];
    const isKnown = known.some(
      (one) => one.model === model && one.method === method && one.lacked === lacked,
    );
    if (!isKnown) known.push(call);
    called.set(client, known);
  };
  for (const { client, model, method } of await deps.statistics.listCalled(now - DAY_MS))
    add(client, { model, method, lacked: 'method' });
  const isCut = await addDenied(deps, now, add);
  if (called.size === 0) return { items: [], isCut };
  const items: AttentionItem[] = [];
  let after: { createdAt: number; id: string } | null = null;
  for (let read = 0; read < KEYS_MAX; read += PAGE_KEYS) {
    const keys: KeyRecord[] = await deps.keys.list({ after, limit: PAGE_KEYS, state: { is: 'active', now } });
    for (const key of keys) items.push(...describeKey(key, called.get(key.clientId) ?? []));
    const last = keys.at(-1);
    if (last === undefined || keys.length < PAGE_KEYS) return { items, isCut };
    after = { createdAt: last.createdAt, id: last.id };
    await nextTurn();
  }
  return { items, isCut: true };
}

/** Adds denied calls, whose names the statistics do not have. Returns whether some were not checked. */
async function addDenied(
  { audit, statistics }: AdminDeps,
  now: number,
  add: (client: string, called: Called) => void,
): Promise<boolean> {
  const { total } = await statistics.query({ since: now - HOUR_MS });
  // Searching the audit takes longer, and usually nothing was denied.
  if ((total.errors['policy_denied'] ?? 0) === 0) return false;
  let isCut = false;
  for (const [rule, lacked] of DENYING_RULES) {
    const since = showTime(now - HOUR_MS);
    const { items, next } = await audit.search({ kind: 'call', rule, since, limit: DENIED_MAX });
    for (const record of items) {
      if (record.kind !== 'call') continue;
      const { client_id: client, model, action: method } = record;
      if (client !== null && model !== null && method !== null) add(client, { model, method, lacked });
    }
    isCut ||= next !== null;
  }
  return isCut;
}

/** Null if there is no policy, or an unreadable one: the key may then make every call, or none. */
function readPolicy(key: KeyRecord): CompiledPolicy | null {
  try {
    const policy = readStoredPolicy(key);
    return policy === null ? null : compilePolicy(policy);
  } catch (error) {
    if (error instanceof StoredPolicyError) return null;
    throw error;
  }
}

function describeKey(key: KeyRecord, called: readonly Called[]): AttentionItem[] {
  const policy = called.length === 0 ? null : readPolicy(key);
  if (policy === null) return [];
  const name = JSON.stringify(key.name);
  const item = { severity: 'warning', target: `key ${key.id}`, since: null } as const;
  const items: AttentionItem[] = [];
  const unnamed = called.filter(
    ({ model, method, lacked }) => lacked === 'method' && findUnnamed(policy, model, method) !== null,
  );
  if (unnamed.length > 0) {
    const entries = printSome(
      unnamed,
      ({ model, method }) => `${JSON.stringify(method)} in models[${JSON.stringify(model)}]`,
    );
    const text = `the client key ${name} calls methods for which "*" of its policy does not stand, so that they are denied. If it needs them, add to its policy: ${entries}.`;
    items.push({ kind: 'method_not_named', ...item, text });
  }
  // If the policy names a denied call, the call was denied for its values or fields.
  const listNamed = (asked: Lacked) =>
    called.filter(({ model, method, lacked }) => lacked === asked && mayCall(policy, model, method));
  const reaching = listNamed('model');
  if (reaching.length > 0) {
    const text = `calls of the client key ${name} were denied in the last hour for other models that their values or fields reach: ${printSome(reaching, printCall)}. If it needs them, add the entries that the errors of these calls name to its policy.`;
    items.push({ kind: 'reached_model_not_named', ...item, text });
  }
  const reading = listNamed('field');
  if (reading.length > 0) {
    const text = `calls of the client key ${name} were denied in the last hour for fields that hold credentials: ${printSome(reading, printCall)}. If it needs them, allow the fields by name in "fields" of its policy.`;
    items.push({ kind: 'credential_field_not_named', ...item, text });
  }
  return items;
}

function printCall({ model, method }: Called): string {
  return `${method} of ${model}`;
}

function printSome(calls: readonly Called[], print: (call: Called) => string): string {
  const more = calls.length > NAMED_MAX ? ` and ${calls.length - NAMED_MAX} more` : '';
  return calls.slice(0, NAMED_MAX).map(print).join(', ') + more;
}
