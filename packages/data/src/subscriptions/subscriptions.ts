/**
 * The subscriptions as administrators manage them: created, changed, paused, tested with a ping, replayed. Knows
 * neither how changes are read nor who may call it.
 */
import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { RESTARTING_MEMBERS, type SubscriptionChanges, type SubscriptionInput } from '@erp-proxy/contract';
import type { Vault } from '@erp-proxy/control/instances';
import type {
  AuditBatch,
  Change,
  DeliveryListQuery,
  DeliveryRecord,
  StoredSubscription,
  SubscriptionDefinition,
  SubscriptionListQuery,
  SubscriptionStore,
} from '@erp-proxy/stores/ports';
import { buildPing, createDeliveryId } from './delivery-body.ts';
import { readEventChanges, readInput, readRecordChanges } from './members.ts';
import { SUBSCRIPTIONS_MAX } from './poller.ts';
import type { Attempt } from './retry-schedule.ts';
import { type Body, printBody, readBody, readSubscription } from './row.ts';
import { createSecret, openSecret, readMasterKeyId, sealSecret } from './secrets.ts';
import type { SendDelivery } from './sender.ts';

/** A subscription with its parsed body. The secrets stay sealed. */
export interface SubscriptionRecord {
  readonly row: StoredSubscription;
  readonly body: Body;
}

export interface SubscriptionsOptions {
  store: SubscriptionStore;
  vault: Vault;
  /** Milliseconds since 1970. */
  clock: () => number;
  send: SendDelivery;
  /** Called with the errors of rows that cannot be read. */
  onError: (error: unknown) => void;
}

/** Creates the audit record of a subscription whose secrets are sealed again. */
export type DescribeReseal = (name: string, masterKeys: { from: string; to: string }) => AuditBatch;

export type AddOutcome = { made: SubscriptionRecord; secret: string } | 'conflict' | 'full';
/** The answer to a ping; null: the ping could not be sent. */
export type PingOutcome = Attempt | null;

/**
 * The audit record `auditBatch` is appended in the transaction of the change. Methods reject with a {@link
 * InputError}.
 */
export interface Subscriptions {
  find(name: string): Promise<SubscriptionRecord | null>;
  /** Also finds a row that cannot be read, so that it can be removed. */
  findRow(name: string): Promise<StoredSubscription | null>;
  /** The id of the subscription to `job.ended` with this name; null: there is none, or its row cannot be read. */
  findCallback(name: string): Promise<string | null>;
  /** Sorted by name. A row that cannot be read is omitted, and reported to `onError`. */
  list(query: SubscriptionListQuery): Promise<SubscriptionRecord[]>;
  add(
    input: SubscriptionInput,
    describeAction?: (made: SubscriptionRecord) => AuditBatch,
    /** JSON text of the actor who makes it; null: not known. */
    createdBy?: string | null,
  ): Promise<AddOutcome>;
  /** The body of the subscription after the changes. Stores nothing. */
  change(record: SubscriptionRecord, changes: SubscriptionChanges): Body;
  update(record: SubscriptionRecord, next: Body, auditBatch?: AuditBatch): Promise<Change>;
  setState(
    record: SubscriptionRecord,
    state: StoredSubscription['state'],
    reason: string | null,
    auditBatch?: AuditBatch,
  ): Promise<Change>;
  remove(row: Pick<StoredSubscription, 'id' | 'version'>, auditBatch?: AuditBatch): Promise<Change>;
  /** Adds a new secret. The former secret also signs during the overlap; older ones are dropped. */
  rotateSecret(record: SubscriptionRecord, overlapMs: number): { next: Body; secret: string };
  /** Sends a delivery of type `ping` now, also while the subscription is paused. */
  ping(record: SubscriptionRecord, auditBatch?: AuditBatch): Promise<PingOutcome>;
  listDeliveries(record: SubscriptionRecord, query: DeliveryListQuery): Promise<DeliveryRecord[]>;
  replay(record: SubscriptionRecord, delivery: string, auditBatch?: AuditBatch): Promise<Change>;
  replaySince(record: SubscriptionRecord, since: number, auditBatch?: AuditBatch): Promise<number>;
  /** The secrets that are valid at `now`, the newest first. Throws a `VaultError`. */
  openSecrets(row: Pick<StoredSubscription, 'id' | 'name' | 'body'>, now: number): string[];
  /**
   * Seals again, under the current master key, secrets that another one has sealed. Returns the number of
   * subscriptions.
   */
  reseal(describeAction: DescribeReseal): Promise<number>;
}

const PAGE_SIZE = 100;

export function createSubscriptions(options: SubscriptionsOptions): Subscriptions {
  const { store, vault, clock, send, onError } = options;

  function open(row: StoredSubscription): SubscriptionRecord {
    return { row, body: readBody(row) };
  }

  function openSecrets(row: Pick<StoredSubscription, 'id' | 'name' | 'body'>, now: number): string[] {
    return readBody(row)
      .secrets.filter(({ expires_at }) => expires_at === null || expires_at > now)
      .map(({ sealed }) => openSecret(sealed, row.id, vault));
  }

  return {
    async find(name) {
      const row = await store.findByName(name);
      return row && open(row);
    },

    findRow: async (name) => store.findByName(name),

    async findCallback(name) {
      const row = await store.findByName(name);
      if (row === null) return null;
      try {
        const body = readBody(row);
        return 'events' in body && body.events.includes('job.ended') ? row.id : null;
      } catch (error) {
        onError(error);
        return null;
      }
    },

    async list(query) {
      const records: SubscriptionRecord[] = [];
      for (let place = query.after; records.length < query.limit; ) {
        const rows: StoredSubscription[] = await store.list({ ...query, after: place });
        for (const row of rows) {
          try {
            records.push(open(row));
          } catch (error) {
            onError(error);
          }
        }
        if (rows.length < query.limit) break;
        place = rows.at(-1)?.name ?? null;
      }
      return records.slice(0, query.limit);
    },

    async add(input, describeAction, createdBy = null) {
      const { name, ...members } = readInput(input);
      const id = randomUUID();
      const now = clock();
      const secret = createSecret();
      const body: Body = {
        v: 1,
        ...members,
        secrets: [{ sealed: sealSecret(secret, id, vault), created_at: now, expires_at: null }],
        updated_at: now,
      };
      const definition = { id, name, body: printBody(body), createdAt: now, createdBy };
      const row: StoredSubscription = { ...definition, ...NEW_SUBSCRIPTION };
      const outcome = await store.insert(definition, SUBSCRIPTIONS_MAX, describeAction?.({ row, body }));
      return outcome === 'done' ? { made: { row, body }, secret } : outcome;
    },

    change({ body }, changes) {
      const updated_at = clock();
      return 'events' in body
        ? { ...body, ...readEventChanges(changes), updated_at }
        : { ...body, ...readRecordChanges(changes), updated_at };
    },

    async update({ row, body }, next, auditBatch) {
      const [before, after] = [body, next].map((it) => new Map<string, unknown>(Object.entries(it)));
      const restarts = RESTARTING_MEMBERS.some(
        (name) => !isDeepStrictEqual(before?.get(name), after?.get(name)),
      );
      return store.replace(row.id, row.version, { body: printBody(next), restarts }, auditBatch);
    },

    setState: async ({ row }, state, reason, auditBatch) =>
      store.setState(row.id, row.version, { state, reason, now: clock() }, auditBatch),

    remove: async ({ id, version }, auditBatch) => store.remove(id, version, auditBatch),

    rotateSecret({ row, body }, overlapMs) {
      const now = clock();
      const secret = createSecret();
      const fresh = { sealed: sealSecret(secret, row.id, vault), created_at: now, expires_at: null };
      const [former] = body.secrets;
      const kept =
        former === undefined || overlapMs === 0 ? [] : [{ ...former, expires_at: now + overlapMs }];
      return { next: { ...body, secrets: [fresh, ...kept], updated_at: now }, secret };
    },

    async ping({ row }, auditBatch) {
      const subscription = readSubscription(row);
      const now = clock();
      const { type, body } = buildPing(subscription, now);
      const delivery = { seq: 0, id: createDeliveryId(), record: null, type, attempts: 1, body };
      const attempt = await send({
        url: subscription.url,
        secrets: openSecrets(row, now),
        delivery,
        signal: new AbortController().signal,
        maySend: () => true,
      });
      if (attempt === null) return null;
      const { isTaken, status, failure, durationMs } = attempt;
      await store.logDelivery(
        row.id,
        {
          id: delivery.id,
          type,
          body,
          state: isTaken ? 'delivered' : 'failed',
          status,
          failure,
          durationMs: Math.round(durationMs),
        },
        clock(),
        auditBatch,
      );
      return attempt;
    },

    listDeliveries: async ({ row }, query) => store.listDeliveries(row.id, query),
    replay: async ({ row }, delivery, auditBatch) => store.replay(row.id, delivery, clock(), auditBatch),
    replaySince: async ({ row }, since, auditBatch) => store.replaySince(row.id, since, clock(), auditBatch),
    openSecrets,

    async reseal(describeAction) {
      let count = 0;
      for (let after: string | null = null; ; ) {
        const rows: StoredSubscription[] = await store.list({ after, limit: PAGE_SIZE });
        for (const row of rows) if (await resealRow(row, describeAction)) count++;
        after = rows.at(-1)?.name ?? null;
        if (rows.length < PAGE_SIZE) return count;
      }
    },
  };

  async function resealRow(row: StoredSubscription, describeAction: DescribeReseal): Promise<boolean> {
    try {
      const body = readBody(row);
      const to = vault.masterKeyId;
      const from = body.secrets.map(({ sealed }) => readMasterKeyId(sealed)).find((id) => id !== to);
      if (from === undefined) return false;
      const secrets = body.secrets.map((secret) => ({
        ...secret,
        sealed: sealSecret(openSecret(secret.sealed, row.id, vault), row.id, vault),
      }));
      const next = { body: printBody({ ...body, secrets }), restarts: false };
      return (
        (await store.replace(row.id, row.version, next, describeAction(row.name, { from, to }))) === 'done'
      );
    } catch (error) {
      onError(error);
      return false;
    }
  }
}

/** State of a subscription that was just stored. The tables of the databases have the same values as defaults. */
export const NEW_SUBSCRIPTION: Omit<StoredSubscription, keyof SubscriptionDefinition> = {
  state: 'active',
  reason: null,
  version: 1,
  readAt: null,
  problem: null,
  failures: 0,
  failingSince: null,
  retryAt: null,
  lastFailure: null,
  deliveredAt: null,
};
