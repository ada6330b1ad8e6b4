/** Verifies deliveries of subscriptions by Standard Webhooks 1.0. */
import type { JobStatus } from './jobs.ts';
import type { Json } from './options.ts';

export interface WebhookRequest {
  /** The body as received. Parsing and printing it again would change its bytes. */
  body: string | Uint8Array;
  headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The secret, `whsec_…`, or several of them during a rotation. */
  secret: string | readonly string[];
  /** Maximum difference between the time of the delivery and this clock. Default: 300. */
  toleranceSeconds?: number;
}

/** A verified delivery. The members of `data` depend on its `type`. */
export type WebhookEvent = RecordEvent | KeyEndsEvent | JobEndedEvent | PingEvent;

/** A change of one record, such as `res.partner.upserted`. */
export type RecordEvent = Delivery<
  `${string}.upserted` | `${string}.left` | `${string}.gone`,
  {
    instance: string;
    model: string;
    /** Id of the record. */
    id: number;
    /** Time of the change in Odoo, in ISO 8601; null if unknown. */
    at: string | null;
    /** Only if the type is `upserted` and the payload is not `thin`. */
    record?: Readonly<Record<string, Json>> | null;
    /** Why `record` is null although values were asked for. */
    omitted?: 'too_large';
  }
>;

/** Says that a client key ends soon, or has ended. */
export type KeyEndsEvent = Delivery<
  'key.ends',
  {
    /** Id of the key. */
    id: string;
    /** The same for all keys that have replaced one another by rotation. */
    client_id: string;
    name: string;
    /** Time in ISO 8601. */
    expires_at: string;
    expired: boolean;
  }
>;

/** Says that a job has ended whose caller has named the subscription as its `callback`. */
export type JobEndedEvent = Delivery<
  'job.ended',
  {
    /** The same for all keys that have replaced one another by rotation. */
    client_id: string;
  } & JobStatus
>;

/** Sent when an administrator tests the receiver. `data` names the source of the subscription. */
export type PingEvent = Delivery<'ping', { instance: string; model: string } | { events: readonly string[] }>;

interface Delivery<Type extends string, Data> {
  /** The same for each attempt: skip a delivery whose id was processed before. */
  id: string;
  type: Type;
  /** Time at which the delivery was created, in ISO 8601. */
  timestamp: string;
  /** `subscription` is the name of the subscription. */
  data: { subscription: string } & Data;
}

const PREFIX = 'whsec_';

/** Rejects with an error that says what is wrong. Then answer the request with 400 or 401. */
export async function verifyWebhook(request: WebhookRequest): Promise<WebhookEvent> {
  const { headers, secret, toleranceSeconds = 300 } = request;
  const read = (name: string): string => {
    const value = headers instanceof Headers ? headers.get(name) : headers[name];
    if (typeof value !== 'string') throw new Error(`The header ${name} is missing.`);
    return value;
  };
  const id = read('webhook-id');
  const time = read('webhook-timestamp');
  const signatures = read('webhook-signature').split(' ');
  if (!/^\d+$/.test(time) || Math.abs(Date.now() / 1000 - Number(time)) > toleranceSeconds)
    throw new Error('The webhook-timestamp is too far from now.');
  const text = new TextEncoder();
  const body = typeof request.body === 'string' ? text.encode(request.body) : request.body;
  const head = text.encode(`${id}.${time}.`);
  const signed = new Uint8Array(head.length + body.length);
  signed.set(head);
  signed.set(body, head.length);
  for (const each of typeof secret === 'string' ? [secret] : secret) {
    const key = await crypto.subtle.importKey(
      'raw',
      decode(each.startsWith(PREFIX) ? each.slice(PREFIX.length) : each),
      { name: 'HMAC', hash: 'SHA-256' },
      false,
      ['verify'],
    );
    for (const signature of signatures) {
      const [version, value = ''] = signature.split(',');
      if (version !== 'v1' || !/^[\w+/]{43}=$/.test(value)) continue;
      if (await crypto.subtle.verify('HMAC', key, decode(value), signed))
        return { ...JSON.parse(new TextDecoder().decode(body)), id } as WebhookEvent;
    }
  }
  throw new Error('The webhook-signature is not valid.');
}

function decode(base64: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}
