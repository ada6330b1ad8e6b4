/** Builds the bodies of deliveries. The bytes of a record stay as Odoo sent them. */
import { randomUUID } from 'node:crypto';
import type { SubscriptionEvent } from '@erp-proxy/contract';
import type { JobNotice, KeyNotice } from './notice-reader.ts';
import type { RecordSubscription, Subscription } from './row.ts';

export type ChangeKind = 'upsert' | 'left' | 'gone';

/** A change of one record. */
export interface RecordChange {
  change: ChangeKind;
  id: number;
  /** Time of the change in Odoo, in ISO 8601; null if it is not known. */
  at: string | null;
  /** JSON text of the record; null unless it is an `upsert`. */
  record: Uint8Array | null;
}

/** A larger record is left out of the delivery: the receiver reads it by a call. */
const RECORD_BYTES_MAX = 128 * 1024;

const EVENTS: Record<ChangeKind, string> = { upsert: 'upserted', left: 'left', gone: 'gone' };

const PING_TYPE = 'ping';
const KEY_ENDS_TYPE: SubscriptionEvent = 'key.ends';
const JOB_ENDED_TYPE: SubscriptionEvent = 'job.ended';

/** Creates a value of `webhook-id`. */
export function createDeliveryId(): string {
  return `msg_${randomUUID().replaceAll('-', '')}`;
}

/** The type and body of a delivery: `{type, timestamp, data}`. */
export function buildDelivery(
  { name, instance, model, payload }: RecordSubscription,
  { change, id, at, record }: RecordChange,
  now: number,
): { type: string; body: string } {
  const type = `${model}.${EVENTS[change]}`;
  const data = JSON.stringify({ subscription: name, instance, model, id, at });
  const isOmitted = payload === 'thin' || record === null;
  const isTooLarge = !isOmitted && record.length > RECORD_BYTES_MAX;
  const more = isOmitted
    ? ''
    : isTooLarge
      ? ',"record":null,"omitted":"too_large"'
      : `,"record":${Buffer.from(record.buffer, record.byteOffset, record.length).toString()}`;
  return { type, body: printBody(type, now, `${data.slice(0, -1)}${more}}`) };
}

/** As `buildDelivery`, for a client key that ends soon or has ended. Contains no secret. */
export function buildKeyNotice(
  { name: subscription }: Pick<Subscription, 'name'>,
  { kind, keyId, clientId, name, expiresAt }: KeyNotice,
  now: number,
): { type: string; body: string } {
  const data = {
    subscription,
    id: keyId,
    client_id: clientId,
    name,
    expires_at: new Date(expiresAt).toISOString(),
    expired: kind === 'expired',
  };
  return { type: KEY_ENDS_TYPE, body: printBody(KEY_ENDS_TYPE, now, JSON.stringify(data)) };
}

/** As `buildDelivery`, for a job that has ended. */
export function buildJobNotice(
  { name: subscription }: Pick<Subscription, 'name'>,
  { clientId, job }: JobNotice,
  now: number,
): { type: string; body: string } {
  const data = { subscription, client_id: clientId, ...job };
  return { type: JOB_ENDED_TYPE, body: printBody(JOB_ENDED_TYPE, now, JSON.stringify(data)) };
}

export function buildPing(subscription: Subscription, now: number): { type: string; body: string } {
  const { name } = subscription;
  const source =
    'events' in subscription
      ? { events: subscription.events }
      : { instance: subscription.instance, model: subscription.model };
  const data = JSON.stringify({ subscription: name, ...source });
  return { type: PING_TYPE, body: printBody(PING_TYPE, now, data) };
}

function printBody(type: string, now: number, data: string): string {
  return `{"type":${JSON.stringify(type)},"timestamp":"${new Date(now).toISOString()}","data":${data}}`;
}
