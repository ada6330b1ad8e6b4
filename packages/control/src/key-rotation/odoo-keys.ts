/** The API keys of an instance's user, as Odoo lists them: names and dates, without the secret texts. */

import { isObject } from '@erp-proxy/json';
import { isApiKeyShaped } from '@erp-proxy/odoo/json2';
import type { InstanceRecord, KeyState } from '../instances/views.ts';
import type { AskOdoo, OdooAnswer } from './ask-odoo.ts';

export const KEYS_MODEL = 'res.users.apikeys';

export interface OdooKey {
  name: string;
  createdAt: number | null;
  /** Time at which the key expires; null: never. */
  expiresAt: number | null;
}

/** Lists the keys that have not expired and that permit calls. Returns the answer of Odoo if that is an error. */
export async function listOdooKeys(
  { record, apiKey }: Pick<KeyState, 'record' | 'apiKey'>,
  ask: AskOdoo,
  now: number,
): Promise<OdooKey[] | Exclude<OdooAnswer, { kind: 'result' }>> {
  const answer = await ask(record, apiKey, {
    model: KEYS_MODEL,
    method: 'search_read',
    keyword: describeKeyQuery(record.userId),
  });
  if (answer.kind !== 'result') return answer;
  return (
    readOdooKeys(answer.value, now) ?? {
      kind: 'unanswered',
      message: 'Odoo answered the question for the keys with no list',
    }
  );
}

/** The named arguments of `search_read` for the keys of a user. */
export function describeKeyQuery(userId: number): Record<string, unknown> {
  return {
    domain: [['user_id', '=', userId]],
    fields: ['name', 'scope', 'create_date', 'expiration_date'],
  };
}

/** Parses the answer: keys that have not expired and that permit calls. Null if the answer is not a list. */
export function readOdooKeys(value: unknown, now: number): OdooKey[] | null {
  if (!Array.isArray(value)) return null;
  return value
    .filter((row) => isObject(row) && (!row['scope'] || row['scope'] === 'rpc'))
    .map((row) => ({
      name: String(row['name']),
      createdAt: parseDate(row['create_date']),
      expiresAt: parseDate(row['expiration_date']),
    }))
    .filter(({ expiresAt }) => expiresAt === null || expiresAt > now);
}

/**
 * The expiry of the stored key; undefined unless exactly one key of the user can be the stored one. Keys that the proxy
 * made do not count: their expiry is stored when they are made.
 */
export function findExpiry(apiKey: string, keys: readonly OdooKey[]): number | null | undefined {
  // A password also works on /jsonrpc (docs/odoo-facts.md#password-for-key), and is not in the list of keys.
  if (!isApiKeyShaped(apiKey)) return undefined;
  const [key, ...others] = keys.filter(({ name }) => !name.startsWith(LABEL_START));
  return others.length === 0 ? key?.expiresAt : undefined;
}

/** Number of keys that were made for the instance but are not its stored key: their texts were lost in a crash. */
export function countLostKeys({ name, key }: InstanceRecord, keys: readonly OdooKey[]): number {
  const start = labelInstance(name);
  return keys.filter((own) => own.name.startsWith(start) && !isSameSecond(own.expiresAt, key.expiresAt))
    .length;
}

/** Time at which the stored key was made; null if it cannot be determined. */
export function findCreation({ key }: InstanceRecord, keys: readonly OdooKey[]): number | null {
  const same = keys.filter((own) => isSameSecond(own.expiresAt, key.expiresAt));
  return same.length === 1 ? (same[0]?.createdAt ?? null) : null;
}

const LABEL_START = 'erp-proxy ';

/** The name of a new key in the user's list of keys in Odoo. */
export function labelKey(instance: string, now: number): string {
  return `${labelInstance(instance)}${new Date(now).toISOString().slice(0, 16)}Z`;
}

function labelInstance(name: string): string {
  return `${LABEL_START}${name} `;
}

/** Prints a time in Odoo's format: UTC, whole seconds. */
export function printDate(time: number): string {
  return new Date(time).toISOString().slice(0, 19).replace('T', ' ');
}

function parseDate(value: unknown): number | null {
  if (typeof value !== 'string') return null;
  const time = Date.parse(`${value.replace(' ', 'T')}Z`);
  return Number.isNaN(time) ? null : time;
}

function isSameSecond(one: number | null, other: number | null): boolean {
  return one !== null && other !== null && Math.abs(one - other) < 1000;
}
