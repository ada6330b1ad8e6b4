/** The stored form of a subscription: the shape of its body, which only this file reads and writes. */
import { z } from 'zod';
import type { StoredSubscription } from '../stores/ports.ts';
import { MEMBERS } from './members.ts';

const SECRET = z.strictObject({
  sealed: z.string(),
  created_at: z.number(),
  /** First moment at which it signs no more; null: until it is rotated. */
  expires_at: z.number().nullable(),
});

const BODY = z.strictObject({
  v: z.literal(1),
  ...MEMBERS,
  /** The newest first. */
  secrets: z.array(SECRET),
  updated_at: z.number(),
});

export type Body = z.infer<typeof BODY>;

/** What is read and where it is sent. */
export interface Subscription extends Omit<Body, 'v' | 'secrets' | 'updated_at'> {
  readonly id: string;
  readonly name: string;
}

/** A row that this version of the proxy cannot read. The message is for the operator. */
export class SubscriptionRowError extends Error {
  override readonly name = 'SubscriptionRowError';
}

/** Throws a {@link SubscriptionRowError}. */
export function readBody({ name, body }: Pick<StoredSubscription, 'name' | 'body'>): Body {
  const result = BODY.safeParse(parseJson(body));
  if (result.success) return result.data;
  const members = result.error.issues.map(({ path }) => path.join('.') || 'the whole');
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

/** Undefined if it is not JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
