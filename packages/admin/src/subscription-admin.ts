/** The operations of an administrator on subscriptions and their deliveries. */
import {
  type DeliveryView,
  includesRole,
  type NewSubscriptionView,
  nameActor,
  type SubscriptionView,
  type VersionTag,
} from '@erp-proxy/contract';
import { readStoredPolicy } from '@erp-proxy/control/keys';
import { type SubscriptionRecord, SubscriptionRowError } from '@erp-proxy/data/subscriptions';
import type {
  Change,
  DeliveryRecord,
  StoredSubscription,
  SubscriptionListQuery,
} from '@erp-proxy/stores/ports';
import { z } from 'zod';
import type { Actor, Admin, AdminDeps } from './admin.ts';
import { type AdminError, createAdminError, createInputError } from './admin-error.ts';
import { type Changes, compareMembers, type DescribeAction, SECRET } from './audited-actions.ts';
import { changeRow } from './change-row.ts';
import { listVisible } from './list-visible.ts';
import { readPage } from './page.ts';
import { readTime, showTime, showTimeOrNull } from './time.ts';
import { readCreator } from './views.ts';

type SubscriptionAdmin = Pick<
  Admin,
  | 'listSubscriptions'
  | 'createSubscription'
  | 'getSubscription'
  | 'updateSubscription'
  | 'removeSubscription'
  | 'pauseSubscription'
  | 'resumeSubscription'
  | 'retrySubscription'
  | 'rotateSecret'
  | 'pingSubscription'
  | 'replayDeliveries'
  | 'listDeliveries'
>;

const OVERLAP_SECONDS_MAX = 30 * 86_400;
/** One line of text, because lists show the reason. */
const REASON = /^[^\p{Cc}]{1,500}$/u;
const PAUSED = 'An administrator paused it.';

export function createSubscriptionAdmin(
  deps: AdminDeps,
  describeAction: DescribeAction,
  actor: Actor,
): SubscriptionAdmin {
  const { subscriptions, instances, keys, explainReceiver } = deps;
  const showsUrls = includesRole(actor.role, 'operator');
  const show = (record: SubscriptionRecord) => showSubscription(record, showsUrls);
  const describe = (
    action: string,
    name: string,
    changes: Changes,
    ...records: (SubscriptionRecord | null)[]
  ) => describeAction(`subscription.${action}`, `subscription ${name}`, changes, listInstances(records));

  async function find(name: string): Promise<SubscriptionRecord> {
    const record = await subscriptions.find(name);
    if (record === null) throw explainMissing(name);
    return record;
  }

  /** The store also searches the URL. Who does not see it must not find it either. */
  function list({ after, limit, ...filters }: SubscriptionListQuery): Promise<SubscriptionRecord[]> {
    const { search } = filters;
    if (search === undefined || showsUrls) return subscriptions.list({ after, limit, ...filters });
    const text = search.toLowerCase();
    return listVisible({
      after,
      limit,
      list: (place: string | null, count) => subscriptions.list({ ...filters, after: place, limit: count }),
      placeOf: ({ row }) => row.name,
      isVisible: (record) =>
        JSON.stringify({ name: record.row.name, ...listMembers(record) })
          .toLowerCase()
          .includes(text),
      lengthOf: ({ row }) => row.body.length,
    });
  }

  /** Calls {@link changeRow} with rows that have the version and the time of creation at the top. */
  async function change(
    name: string,
    tag: VersionTag | undefined,
    make: (record: SubscriptionRecord) => Promise<Change>,
  ): Promise<void> {
    const findRow = async () => {
      const record = await find(name);
      return { version: record.row.version, createdAt: record.row.createdAt, record };
    };
    await changeRow(findRow, tag, ({ record }) => make(record));
  }

  /** Checks what the members refer to: the instance, the key and the address of the receiver. */
  async function checkNamed(given: { instance?: string; key?: string | null; url?: string }): Promise<void> {
    const faults = [
      given.instance === undefined ? null : await explainInstance(given.instance),
      given.key == null ? null : await explainKey(given.key),
      given.url === undefined ? null : explainUrl(given.url),
    ];
    const found = faults.filter((fault) => fault !== null);
    if (found.length > 0) throw createInputError(found);
  }

  async function explainInstance(name: string) {
    const isKnown = /^[\w.-]+$/.test(name) && (await instances.get(name)) !== null;
    return isKnown ? null : { path: 'instance', message: 'is not the name of a stored instance' };
  }

  async function explainKey(id: string) {
    const key = await keys.find(id);
    if (key === null) return { path: 'key', message: 'is not the id of a client key' };
    if (key.revokedAt !== null) return { path: 'key', message: 'is the id of a revoked key' };
    const policy = readStoredPolicy(key);
    if (policy === null || policy.data?.includes('subscriptions')) return null;
    return { path: 'key', message: 'has a policy that does not allow "subscriptions" in `data`' };
  }

  function explainUrl(url: string) {
    const origin = URL.parse(url)?.origin;
    const detail = origin === undefined ? null : explainReceiver(origin);
    return detail === null ? null : { path: 'url', message: `may not be reached: ${detail}` };
  }

  async function setState(
    name: string,
    state: StoredSubscription['state'],
    reason: string | null,
    action: string,
  ): Promise<SubscriptionView> {
    await change(name, undefined, async (record) => {
      // Resuming an active subscription ends the wait for a retry.
      if (record.row.state === state && (state !== 'active' || record.row.failures === 0)) return 'done';
      const changes = {
        state: { from: record.row.state, to: state },
        ...(reason === null ? {} : { reason: { from: record.row.reason, to: reason } }),
      };
      const auditBatch = describe(action, name, changes, record);
      return subscriptions.setState(record, state, reason, auditBatch);
    });
    return show(await find(name));
  }

  return {
    listSubscriptions({ state, search, ...page }) {
      return readPage(page, {
        place: z.string().regex(/^[\w.-]+$/),
        placeOf: ({ row }) => row.name,
        list: (after, limit) => list({ after, limit, state, search }),
        show,
      });
    },

    async createSubscription(input) {
      await checkNamed(input);
      const describeMade = (record: SubscriptionRecord) => {
        const changes = compareMembers({}, { ...listMembers(record), secret: SECRET });
        return describe('create', record.row.name, changes, record);
      };
      const added = await subscriptions.add(input, describeMade, JSON.stringify(nameActor(actor)));
      if (added === 'conflict') {
        throw createAdminError(
          409,
          `There is a subscription ${JSON.stringify(input.name)} already: change it, or take another name.`,
        );
      }
      if (added === 'full')
        throw createAdminError(409, 'There are as many subscriptions as the proxy works: remove some.');
      return showNew(added.made, added.secret);
    },

    getSubscription: async (name) => show(await find(name)),

    async updateSubscription(name, given, tag) {
      await checkNamed(given);
      await change(name, tag, async (record) => {
        const next = subscriptions.change(record, given);
        const changes = compareSubscriptions(record, { ...record, body: next });
        const isSame = Object.keys(compareMembers(record.body, next)).every(
          (member) => member === 'updated_at',
        );
        if (isSame) return 'done';
        return subscriptions.update(
          record,
          next,
          describe('update', name, changes, record, { ...record, body: next }),
        );
      });
      return show(await find(name));
    },

    async removeSubscription(name, tag) {
      const findRow = async () => {
        const row = await subscriptions.findRow(name);
        if (row === null) throw explainMissing(name);
        return row;
      };
      await changeRow(findRow, tag, async (row) => {
        const record = await find(name).catch(ignoreUnreadable);
        const changes = compareMembers({ ...(record && listMembers(record)), secret: SECRET }, {});
        return subscriptions.remove(row, describe('remove', name, changes, record));
      });
    },

    async pauseSubscription(name, { reason = PAUSED }) {
      if (!REASON.test(reason))
        throw createInputError([{ path: 'reason', message: 'must be one line of 1 to 500 characters' }]);
      return setState(name, 'paused', reason, 'pause');
    },

    async resumeSubscription(name) {
      const { body } = await find(name);
      await checkNamed('key' in body ? { key: body.key } : {});
      return setState(name, 'active', null, 'resume');
    },

    async retrySubscription(name) {
      await change(name, undefined, async (record) => {
        const { state } = record.row;
        if (state !== 'active') {
          throw createAdminError(409, `The subscription is ${state}, so that nothing is sent: resume it.`);
        }
        return subscriptions.setState(record, state, record.row.reason, describe('retry', name, {}, record));
      });
      return show(await find(name));
    },

    async rotateSecret(name, { overlap_seconds: seconds }, tag) {
      if (!(Number.isInteger(seconds) && seconds >= 0 && seconds <= OVERLAP_SECONDS_MAX)) {
        const message = `must be a whole number of seconds from 0 to ${OVERLAP_SECONDS_MAX}`;
        throw createInputError([{ path: 'overlap_seconds', message }]);
      }
      let secret = '';
      await change(name, tag, async (record) => {
        const rotated = subscriptions.rotateSecret(record, seconds * 1000);
        secret = rotated.secret;
        const changes = { secret: { from: SECRET, to: SECRET } };
        const auditBatch = describe('rotate-secret', name, changes, record);
        return subscriptions.update(record, rotated.next, auditBatch);
      });
      return showNew(await find(name), secret);
    },

    async pingSubscription(name) {
      const record = await find(name);
      const attempt = await subscriptions.ping(record, describe('ping', name, {}, record));
      if (attempt === null) throw createAdminError(503, 'The proxy is shutting down: try again in a moment.');
      const { isTaken, status, failure, durationMs } = attempt;
      return { delivered: isTaken, status, failure, duration_ms: Math.round(durationMs) };
    },

    async replayDeliveries(name, { delivery, since }) {
      const record = await find(name);
      if ((delivery === undefined) === (since === undefined)) {
        throw createInputError([{ path: 'since', message: 'or `delivery` must be given, and not both' }]);
      }
      if (delivery !== undefined) {
        const auditBatch = describe('replay', name, { delivery: { from: null, to: delivery } }, record);
        const outcome = await subscriptions.replay(record, delivery, auditBatch);
        if (outcome === 'missing')
          throw createAdminError(404, `It has no delivery ${JSON.stringify(delivery)} any more.`);
        if (outcome === 'conflict') {
          throw createAdminError(
            409,
            'It cannot be replayed: it waits already, is a ping, or a newer delivery of its record exists. Replay that one.',
          );
        }
        return { replayed: 1 };
      }
      const time = readTime(since ?? '');
      if (typeof time !== 'number')
        throw createInputError([{ path: 'since', message: 'must be a time as in "2027-01-31T00:00:00Z"' }]);
      const auditBatch = describe('replay', name, { since: { from: null, to: showTime(time) } }, record);
      return { replayed: await subscriptions.replaySince(record, time, auditBatch) };
    },

    async listDeliveries(name, { state, ...page }) {
      const record = await find(name);
      return readPage(page, {
        place: z.int(),
        placeOf: ({ seq }) => seq,
        list: (beforeSeq, limit) => subscriptions.listDeliveries(record, { beforeSeq, limit, state }),
        show: showDelivery,
      });
    },
  };
}

function explainMissing(name: string): AdminError {
  return createAdminError(404, `There is no subscription ${JSON.stringify(name)}.`);
}

/** Null for a subscription that cannot be read: it can still be removed. */
function ignoreUnreadable(error: unknown): null {
  if (error instanceof SubscriptionRowError) return null;
  throw error;
}

/** The instances of these subscriptions. Null if one is about the whole proxy, or cannot be read. */
function listInstances(records: (SubscriptionRecord | null)[]): string[] | null {
  const names = records.map((record) => (record && 'instance' in record.body ? record.body.instance : null));
  return names.includes(null) ? null : [...new Set(names.filter((name) => name !== null))];
}

/**
 * The members that an administrator can set, for the audit. Of the URL, only the origin: the rest may be a secret of
 * the receiver.
 */
function listMembers({ body }: SubscriptionRecord) {
  const { v: _, secrets: __, updated_at: ___, url, ...members } = body;
  return { ...members, url: hidePath(url) };
}

function compareSubscriptions(before: SubscriptionRecord, after: SubscriptionRecord): Changes {
  const changes = compareMembers(listMembers(before), listMembers(after));
  const [from, to] = [before, after].map(({ body }) => body.url);
  return from === to ? changes : { ...changes, url: { from: hidePath(from!), to: hidePath(to!) } };
}

/** `https://example.com/…` */
function hidePath(url: string): string {
  return `${URL.parse(url)?.origin ?? ''}/…`;
}

function showSubscription({ row, body }: SubscriptionRecord, showsUrl: boolean): SubscriptionView {
  const { v: _, secrets, updated_at, ...members } = body;
  return {
    name: row.name,
    state: row.state,
    reason: row.reason,
    ...members,
    ...(showsUrl ? null : { url: hidePath(body.url) }),
    read_at: showTimeOrNull(row.readAt),
    problem: row.problem,
    receiver: {
      failures: row.failures,
      failing_since: showTimeOrNull(row.failingSince),
      retry_at: showTimeOrNull(row.retryAt),
      last_failure: row.lastFailure,
      delivered_at: showTimeOrNull(row.deliveredAt),
    },
    secrets: secrets.map(({ created_at, expires_at }) => ({
      created_at: showTime(created_at),
      expires_at: showTimeOrNull(expires_at),
    })),
    created_at: showTime(row.createdAt),
    created_by: readCreator(row),
    updated_at: showTime(updated_at),
    version: row.version,
  };
}

/** Only operators create subscriptions and secrets. */
function showNew(record: SubscriptionRecord, secret: string): NewSubscriptionView {
  return { ...showSubscription(record, true), secret };
}

function showDelivery(delivery: DeliveryRecord): DeliveryView {
  return {
    id: delivery.id,
    type: delivery.type,
    record: delivery.record,
    state: delivery.state,
    attempts: delivery.attempts,
    next_at: showTimeOrNull(delivery.nextAt),
    created_at: showTime(delivery.createdAt),
    ended_at: showTimeOrNull(delivery.endedAt),
    status: delivery.status,
    failure: delivery.failure,
    duration_ms: delivery.durationMs,
  };
}
