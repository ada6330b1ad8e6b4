/** The API keys of an instance's user, as Odoo lists them: names and dates, without the keys themselves. */

import { isObject } from '@erp-proxy/json';
import { isApiKeyShaped } from '@erp-proxy/odoo/json2';
import type { InstanceRecord, KeyState } from '../instances/views.ts';
import type { AskOdoo, OdooAnswer } from './ask-odoo.ts';

export const KEYS_MODEL = 'res.users.apikeys';

export interface OdooKey {
  name: string;
  createdAt: number | null;
  /** Null: never. */
  expiresAt: number | null;
}

/** The keys that have not expired and that allow calls, or the answer that prevented listing them. */
export async function listOdooKeys(
  { record, apiKey }: Pick<KeyState, 'record' | 'apiKey'>,
  ask: AskOdoo,
  now: number,
): Promise<OdooKey[] | Exclude<OdooAnswer, { kind: 'result' }>> {
  const answer = await ask(record, apiKey, {
    model: KEYS_MODEL,
    method: 'search_read',
    keyword: describeKeyQuery(record.user_id),
  });
  if (answer.kind !== 'result') return answer;
  return (
    readOdooKeys(answer.value, now) ?? {
      kind: 'unanswered',
      message: 'Odoo answered the question for the keys with no list',
    }
  );
}

/** The named arguments of `search_read` for a user's keys. */
export function describeKeyQuery(userId: number): Record<string, unknown> {
  return {
    domain: [['user_id', '=', userId]],
    fields: ['name', 'scope', 'create_date', 'expiration_date'],
  };
}

/** The keys of such an answer that have not expired and that allow calls; null if it is not a list. */
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
 * The expiry of the stored key, if only one of the user's keys can be the stored one; undefined otherwise. Keys that
 * the proxy made are ruled out: their expiry is stored when they are made.
 */
export function findExpiry(apiKey: string, keys: readonly OdooKey[]): number | null | undefined {
  // A password also works on /jsonrpc (docs/odoo-facts.md#password-for-key), and is in no list of keys.
  if (!isApiKeyShaped(apiKey)) return undefined;
  const [key, ...others] = keys.filter(({ name }) => !name.startsWith(LABEL_START));
  return others.length === 0 ? key?.expiresAt : undefined;
}

/** Number of keys that were made for the instance and are not the stored one: a crash lost their text. */
export function countLostKeys({ name, key }: InstanceRecord, keys: readonly OdooKey[]): number {
  const start = labelInstance(name);
  return keys.filter((own) => own.name.startsWith(start) && !isSameSecond(own.expiresAt, key.expiresAt))
    .length;
}

/** When the stored key was made; null if that cannot be determined. */
export function findCreation({ key }: InstanceRecord, keys: readonly OdooKey[]): number | null {
  const same = keys.filter((own) => isSameSecond(own.expiresAt, key.expiresAt));
  return same.length === 1 ? (same[0]?.createdAt ?? null) : null;
}

const LABEL_START = 'erp-proxy ';

/** The name of a new key, shown in the user's list of keys in Odoo. */
export function labelKey(instance: string, now: number): string {
  return `${labelInstance(instance)}${new Date(now).toISOString().slice(0, 16)}Z`;
}

function labelInstance(name: string): string {
  return `${LABEL_START}${name} `;
}

/** Odoo's format of times: UTC, whole seconds. */
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
