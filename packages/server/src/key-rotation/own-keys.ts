/** The API keys of an instance's user, as Odoo lists them: name and dates, never the key. */

import type { InstanceRecord, KeyState } from '../instances/views.ts';
import { isApiKeyShaped } from '../odoo/json2/json2-request.ts';
import type { AskOdoo, OdooAnswer } from './ask-odoo.ts';

export const KEYS_MODEL = 'res.users.apikeys';

export interface OwnKey {
  name: string;
  createdAt: number | null;
  /** Null: never. */
  expiresAt: number | null;
}

/** The living keys that open calls, or why they are not known. */
export async function listOwnKeys(
  { record, apiKey }: Pick<KeyState, 'record' | 'apiKey'>,
  ask: AskOdoo,
  now: number,
): Promise<OwnKey[] | Exclude<OdooAnswer, { kind: 'result' }>> {
  const answer = await ask(record, apiKey, {
    model: KEYS_MODEL,
    method: 'search_read',
    keyword: describeOwnKeys(record.userId),
  });
  if (answer.kind !== 'result') return answer;
  return (
    readOwnKeys(answer.value, now) ?? {
      kind: 'unanswered',
      message: 'Odoo answered the question for the keys with no list',
    }
  );
}

/** The named arguments of the question for a user's keys. */
export function describeOwnKeys(userId: number): Record<string, unknown> {
  return {
    domain: [['user_id', '=', userId]],
    fields: ['name', 'scope', 'create_date', 'expiration_date'],
  };
}

/** The living keys in an answer to the question; null where it is no list. */
export function readOwnKeys(value: unknown, now: number): OwnKey[] | null {
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
 * When the stored key ends, where only one of the user's keys can be it; undefined where that cannot be told. Keys that
 * the proxy has made are not it: what they expire at is known since they were made.
 */
export function findExpiry(apiKey: string, keys: readonly OwnKey[]): number | null | undefined {
  // A password opens /jsonrpc as well (docs/odoo-facts.md#password-for-key), and is no key in any list.
  if (!isApiKeyShaped(apiKey)) return undefined;
  const [key, ...others] = keys.filter(({ name }) => !name.startsWith(LABEL_START));
  return others.length === 0 ? key?.expiresAt : undefined;
}

/** Keys that were made for the instance and are not the stored one: their text was lost, as in a crash. */
export function countLostKeys({ name, key }: InstanceRecord, keys: readonly OwnKey[]): number {
  const start = labelInstance(name);
  return keys.filter((own) => own.name.startsWith(start) && !isSameSecond(own.expiresAt, key.expiresAt))
    .length;
}

/** When the stored key was made; null where that cannot be told. */
export function findCreation({ key }: InstanceRecord, keys: readonly OwnKey[]): number | null {
  const same = keys.filter((own) => isSameSecond(own.expiresAt, key.expiresAt));
  return same.length === 1 ? (same[0]?.createdAt ?? null) : null;
}

const LABEL_START = 'erp-proxy ';

/** What the user reads in the list of keys at Odoo. */
export function labelKey(instance: string, now: number): string {
  return `${labelInstance(instance)}${new Date(now).toISOString().slice(0, 16)}Z`;
}

function labelInstance(name: string): string {
  return `${LABEL_START}${name} `;
}

/** As Odoo takes and gives times: UTC, whole seconds. */
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

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
