/** Verifies deliveries of subscriptions, as Standard Webhooks 1.0 says. */
import type { Json } from './options.ts';

export interface WebhookRequest {
  /** The body as it arrived. A parsed and printed one has other bytes. */
  body: string | Uint8Array;
  headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
  /** `whsec_…`, or several of them during a rotation. */
  secret: string | readonly string[];
  /** How much the time of the delivery may differ from this clock. Default: 300. */
  toleranceSeconds?: number;
}

/** A delivery that was verified. Its `type` tells which members `data` has. */
export type WebhookEvent = RecordEvent | KeyEndsEvent | PingEvent;

/** A change of one record, such as `res.partner.upserted`. */
export type RecordEvent = Delivery<
  `${string}.upserted` | `${string}.left` | `${string}.gone`,
  {
    instance: string;
    model: string;
    /** Id of the record. */
    id: number;
    /** Time of the change in Odoo, in ISO 8601; null if it is not known. */
    at: string | null;
    /** Only of type `upserted`, and not with the payload `thin`. */
    record?: Readonly<Record<string, Json>> | null;
    /** Why `record` is null although values were asked for. */
    omitted?: 'too_large';
  }
>;

/** A client key ends soon, or has ended. */
export type KeyEndsEvent = Delivery<
  'key.ends',
  {
    /** Id of the key. */
    id: string;
    /** The same for all keys that replaced each other by rotation. */
    client_id: string;
    name: string;
    /** In ISO 8601. */
    expires_at: string;
    expired: boolean;
  }
>;

/** An administrator tries the receiver. `data` names the source of the subscription. */
export type PingEvent = Delivery<'ping', { instance: string; model: string } | { events: readonly string[] }>;

interface Delivery<Type extends string, Data> {
  /** The same for each attempt: skip a delivery whose id you have processed. */
  id: string;
  type: Type;
  /** Time at which the delivery was made, in ISO 8601. */
  timestamp: string;
  /** `subscription` is the name of the subscription. */
  data: { subscription: string } & Data;
}

const PREFIX = 'whsec_';

/** Rejects with an error that says what is wrong. Answer it with 400 or 401. */
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
    throw new Error('The webhook-timestamp is too far from the present time.');
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
