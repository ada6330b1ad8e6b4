/** The stored form of a subscription: the shape of its body, which only this file reads and writes. */
import { tryParse } from '@erp-proxy/contract';
import type { StoredSubscription } from '@erp-proxy/stores/ports';
import { z } from 'zod';
import { STORED_MEMBERS } from './members.ts';

const SECRET = z.strictObject({
  sealed: z.string(),
  created_at: z.number(),
  /** Time from which the secret signs no more; null: the secret was not rotated. */
  expires_at: z.number().nullable(),
});

const SHARED = {
  v: z.literal(1),
  /** Here and below, a member that an earlier version did not know has its default. */
  ...STORED_MEMBERS.shared,
  /** The newest first. */
  secrets: z.array(SECRET),
  updated_at: z.number(),
};
const RECORD_BODY = z.strictObject({ ...SHARED, ...STORED_MEMBERS.records });
const EVENT_BODY = z.strictObject({ ...SHARED, ...STORED_MEMBERS.events });

export type RecordBody = z.infer<typeof RECORD_BODY>;
export type EventBody = z.infer<typeof EVENT_BODY>;
export type Body = RecordBody | EventBody;

interface Named {
  readonly id: string;
  readonly name: string;
}

/** A subscription to records: what is read from Odoo and where it is sent. */
export interface RecordSubscription extends Omit<RecordBody, 'v' | 'secrets' | 'updated_at'>, Named {}
/** A subscription to events of the proxy: which events are sent, and where. */
export interface EventSubscription extends Omit<EventBody, 'v' | 'secrets' | 'updated_at'>, Named {}
export type Subscription = RecordSubscription | EventSubscription;

/** A row that this version of the proxy cannot read. The message is for the operator. */
export class SubscriptionRowError extends Error {
  override readonly name = 'SubscriptionRowError';
}

/** Throws a {@link SubscriptionRowError}. */
export function readBody({ name, body }: Pick<StoredSubscription, 'name' | 'body'>): Body {
  const given = tryParse(body);
  const isOfEvents = typeof given === 'object' && given !== null && 'events' in given;
  const result = isOfEvents ? EVENT_BODY.safeParse(given) : RECORD_BODY.safeParse(given);
  if (result.success) return result.data;
  const members = result.error.issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys' ? issue.keys : [issue.path.join('.') || 'the whole'],
  );
  throw new SubscriptionRowError(
    `The subscription ${name} in the store is not as this version of the proxy writes it (${members.join(', ')}): start the version that wrote it, or remove it.`,
  );
}

/** Throws a {@link SubscriptionRowError}. */
export function readSubscription(row: Pick<StoredSubscription, 'id' | 'name' | 'body'>): Subscription {
  const { v: _, secrets: __, updated_at: ___, ...members } = readBody(row);
  return { id: row.id, name: row.name, ...members };
}

export function printBody(body: Body): string {
  return JSON.stringify(body);
}
