/** Subscriptions and their deliveries in a database. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { changeVersion, isDone } from './change-version.ts';
import { chooseDeliveryPlace, type WaitingDelivery } from './delivery-place.ts';
import type { AuditBatch } from './ports/audit.ts';
import type { Change } from './ports/change.ts';
import type {
  ActiveSubscription,
  ClaimedDelivery,
  DeliveryBatch,
  DeliveryRecord,
  IdChanges,
  StoredSubscription,
  SubscriptionBacklog,
  SubscriptionProgress,
  SubscriptionStore,
} from './ports/subscriptions.ts';
import { createParameters, isStorable, placeRows, splitRows } from './sql.ts';
import type { Databases, Statements } from './statements.ts';
import { createSubscriptionShards, holdsShard } from './subscription-shards.ts';

const COLUMNS = `id, name, state, reason, body, version, created_at AS "createdAt", created_by AS "createdBy", read_at AS "readAt", problem,
  failures, failing_since AS "failingSince", retry_at AS "retryAt", last_failure AS "lastFailure",
  delivered_at AS "deliveredAt"`;
const DELIVERY_COLUMNS = `seq, id, record, type, state, attempts, next_at AS "nextAt", created_at AS "createdAt",
  ended_at AS "endedAt", status, failure, duration_ms AS "durationMs"`;
const IS_NEWEST = `record IS NOT NULL AND state IN ('delivered', 'failed') AND NOT EXISTS (
  SELECT 1 FROM deliveries AS newer
  WHERE newer.subscription = deliveries.subscription AND newer.record = deliveries.record
    AND newer.seq > deliveries.seq
)`;
/** $1: the latest end of a claim. $2: the latest time of a retry. */
const IS_LATE = `state = 'waiting' AND next_at > $1 AND (claim IS NOT NULL OR attempts = 0 OR next_at > $2)`;
/** Delay of a subscription whose due deliveries all wait for older ones of their records that are being sent. */
const BLOCKED_MS = 1000;
/** An arbitrary number that other programs on the database are unlikely to lock. */
const INSERT_LOCK = 3_772_610_884_953;

interface Waiting extends WaitingDelivery {
  readonly seq: number;
}

/**
 * A power loss may undo the position and the deliveries of a reading together: the changes are then read again. It must
 * not undo what administrators change.
 */
export function createSubscriptions({ durable, quick }: Databases): SubscriptionStore {
  const {
    contains,
    forUpdate,
    greatest,
    isBlocking,
    isIn,
    least,
    lock: lockNumber,
    skipLocked,
  } = quick.dialect;
  /** When the next delivery is due; null if no delivery waits, or the subscription is not active. */
  const DUE_AT = `CASE state WHEN 'active' THEN (
    SELECT ${greatest}(next_at, coalesce(subscriptions.retry_at, 0)) FROM deliveries
    WHERE subscription = subscriptions.id AND state = 'waiting' ORDER BY next_at LIMIT 1
  ) END`;
  const updateDue = (statements: Statements, id: string) =>
    statements.change(`UPDATE subscriptions SET due_at = ${DUE_AT} WHERE id = $1`, [id]);
  /**
   * Every change of deliveries locks the row of their subscription first, so that the changes run one after the other.
   */
  const lock = (statements: Statements, id: string) =>
    statements.query(`SELECT 1 FROM subscriptions WHERE id = $1 ${forUpdate}`, [id]);
  const wakeWaiting = (statements: Statements, id: string, now: number) =>
    statements.change(
      `UPDATE deliveries SET next_at = ${least}(next_at, $2)
       WHERE subscription = $1 AND state = 'waiting' AND claim IS NULL`,
      [id, now],
    );
  const listWaiting = (statements: Statements, id: string, record: string) =>
    statements.query<Waiting>(
      `SELECT seq, attempts, next_at AS "nextAt", claim FROM deliveries
       WHERE subscription = $1 AND record = $2 AND state = 'waiting' ORDER BY seq`,
      [id, record],
    );

  async function changeIds(statements: Statements, id: string, { replacesAll, parts }: IdChanges) {
    const empty = parts.filter(({ ids }) => ids === '').map(({ part }) => part);
    const isRemoved = replacesAll ? 'true' : isIn('part', '$2');
    if (replacesAll || empty.length > 0) {
      await statements.change(
        `DELETE FROM watched_ids WHERE subscription = $1 AND ${isRemoved}`,
        replacesAll ? [id] : [id, empty],
      );
    }
    for (const rows of splitRows(parts.filter(({ ids }) => ids !== ''))) {
      const { values, place } = createParameters();
      const placed = placeRows(
        place,
        ['text', 'bigint', 'text'],
        rows.map(({ part, ids }) => [id, part, ids]),
      );
      await statements.change(
        `INSERT INTO watched_ids (subscription, part, ids) VALUES ${placed}
         ON CONFLICT (subscription, part) DO UPDATE SET ids = excluded.ids`,
        values,
      );
    }
  }

  /** Condition: the owner in the parameter holds the shard of the subscription now. */
  const isHeldBy = (parameter: string) => holdsShard(quick.dialect, parameter);

  function change(
    auditBatch: AuditBatch | undefined,
    make: (statements: Statements) => Promise<Change>,
  ): Promise<Change> {
    return durable.transactWithAudit(auditBatch, make, isDone);
  }

  return {
    async insert({ id, name, body, createdAt, createdBy = null }, max, auditBatch) {
      const make = async (statements: Statements): Promise<'done' | 'conflict' | 'full'> => {
        await statements.query(lockNumber(INSERT_LOCK));
        const [known] = await statements.query<{ count: number; isTaken: number }>(
          'SELECT count(*) AS count, count(*) FILTER (WHERE name = $1) AS "isTaken" FROM subscriptions',
          [name],
        );
        if (known?.isTaken) return 'conflict';
        if ((known?.count ?? 0) >= max) return 'full';
        const inserted = await statements.change(
          `INSERT INTO subscriptions (id, name, state, body, created_at, created_by)
           VALUES ($1, $2, 'active', $3, $4, $5) ON CONFLICT (name) DO NOTHING`,
          [id, name, body, createdAt, createdBy],
        );
        return inserted === 1 ? 'done' : 'conflict';
      };
      return durable.transactWithAudit(auditBatch, make, isDone);
    },
    async findByName(name) {
      if (!isStorable(name)) return null;
      const [found] = await quick.query<StoredSubscription>(
        `SELECT ${COLUMNS} FROM subscriptions WHERE name = $1`,
        [name],
      );
      return found ?? null;
    },
    async list({ after, limit, state, search }) {
      if (!isStorable(after ?? '') || !isStorable(search ?? '')) return [];
      const { values, place } = createParameters();
      const conditions = ['true'];
      if (after !== null) conditions.push(`name > ${place(after)}`);
      if (state !== undefined) conditions.push(`state = ${place(state)}`);
      if (search !== undefined) conditions.push(contains(['name', 'body'], place(search)));
      return quick.query<StoredSubscription>(
        `SELECT ${COLUMNS} FROM subscriptions WHERE ${conditions.join(' AND ')} ORDER BY name LIMIT ${place(limit)}`,
        values,
      );
    },
    listActive: (owner, limit) =>
      quick.query<ActiveSubscription>(
        `SELECT id, name, body, shard FROM subscriptions WHERE state = 'active' AND ${isHeldBy('$1')} LIMIT $2`,
        [owner, limit],
      ),
    replace(id, version, { body, restarts }, auditBatch) {
      const statement = `UPDATE subscriptions
         SET body = $3, version = version + 1,
             progress = CASE WHEN $4 THEN NULL ELSE progress END,
             progress_version = progress_version + CASE WHEN $4 THEN 1 ELSE 0 END,
             problem = CASE WHEN $4 THEN NULL ELSE problem END
         WHERE id = $1 AND version = $2`;
      return change(auditBatch, (statements) =>
        changeVersion(statements, 'subscriptions', statement, [id, version, body, restarts]),
      );
    },
    setState(id, version, { state, reason, now }, auditBatch) {
      return change(auditBatch, async (statements) => {
        const statement =
          'UPDATE subscriptions SET state = $3, reason = $4, version = version + 1 WHERE id = $1 AND version = $2';
        const outcome = await changeVersion(statements, 'subscriptions', statement, [
          id,
          version,
          state,
          reason,
        ]);
        if (outcome !== 'done') return outcome;
        if (state === 'active') {
          await statements.change(
            'UPDATE subscriptions SET failures = 0, failing_since = NULL, retry_at = NULL WHERE id = $1',
            [id],
          );
          await wakeWaiting(statements, id, now);
        }
        await updateDue(statements, id);
        return 'done';
      });
    },
    remove: (id, version, auditBatch) =>
      change(auditBatch, (statements) =>
        changeVersion(
          statements,
          'subscriptions',
          'DELETE FROM subscriptions WHERE id = $1 AND version = $2',
          [id, version],
        ),
      ),

    ...createSubscriptionShards(quick),

    async readProgress(id, waitingMax) {
      const [row] = await quick.query<StoredSubscription & Omit<SubscriptionProgress, 'subscription'>>(
        `SELECT ${COLUMNS}, progress, progress_version AS "progressVersion", (
           SELECT string_agg(ids, ',' ORDER BY part) FROM watched_ids WHERE subscription = $1
         ) AS ids, (
           SELECT count(*) FROM (
             SELECT 1 FROM deliveries WHERE subscription = $1 AND state = 'waiting' LIMIT $2
           ) AS counted
         ) AS waiting FROM subscriptions WHERE id = $1`,
        [id, waitingMax],
        'read-progress',
      );
      if (row === undefined) return null;
      const { progress, progressVersion, ids, waiting, ...subscription } = row;
      return { subscription, progress, progressVersion, ids, waiting };
    },
    commitReading(owner, id, progressVersion, { progress, ids, now, deliveries, endedJobs = [] }) {
      return quick.transact(async (statements) => {
        const changed = await statements.change(
          `UPDATE subscriptions
           SET progress = $3, progress_version = progress_version + 1, read_at = $4, problem = NULL
           WHERE id = $1 AND progress_version = $2 AND state = 'active' AND ${isHeldBy('$5')}`,
          [id, progressVersion, progress, now, owner],
        );
        if (changed === 0) return false;
        if (ids !== undefined) await changeIds(statements, id, ids);
        if (endedJobs.length > 0)
          await statements.change(`UPDATE jobs SET callback = NULL WHERE ${isIn('id', '$1')}`, [endedJobs]);
        if (deliveries.length === 0) return true;
        const records = deliveries.map(({ record }) => record);
        const waiting = await statements.query<WaitingDelivery & { record: string }>(
          `SELECT record, attempts, next_at AS "nextAt", claim FROM deliveries
           WHERE subscription = $1 AND ${isIn('record', '$2')} AND state = 'waiting' ORDER BY seq`,
          [id, records],
        );
        await statements.change(
          `UPDATE deliveries SET state = 'merged', next_at = NULL, ended_at = $3
           WHERE subscription = $1 AND ${isIn('record', '$2')} AND state = 'waiting' AND claim IS NULL`,
          [id, records, now],
        );
        const byRecord = Map.groupBy(waiting, ({ record }) => record);
        const placed = deliveries.map((delivery) => ({
          ...delivery,
          ...chooseDeliveryPlace(byRecord.get(delivery.record) ?? [], now),
        }));
        for (const part of splitRows(placed)) {
          const { values, place } = createParameters();
          const added = placeRows(
            place,
            ['text', 'text', 'text', 'text', 'text', 'bigint', 'bigint', 'bigint', 'text'],
            part.map((it) => [
              it.id,
              id,
              it.record,
              it.type,
              'waiting',
              it.attempts,
              it.nextAt,
              now,
              it.body,
            ]),
          );
          await statements.change(
            `INSERT INTO deliveries (id, subscription, record, type, state, attempts, next_at, created_at, body)
             VALUES ${added}`,
            values,
          );
        }
        await updateDue(statements, id);
        return true;
      });
    },
    async saveReadingOutcomes(owner, all) {
      for (const part of splitRows(all)) {
        const { values, place } = createParameters();
        const outcomes = placeRows(
          place,
          ['text', 'bigint', 'text'],
          part.map(({ id, at, problem }) => [id, at, problem]),
        );
        await quick.change(
          `UPDATE subscriptions SET read_at = outcomes.column2, problem = outcomes.column3
           FROM (VALUES ${outcomes}) AS outcomes WHERE id = outcomes.column1 AND ${isHeldBy(place(owner))}`,
          values,
        );
        if (isBlocking) await nextTurn();
      }
    },

    async findNextDue(owner, except) {
      const [found] = await quick.query<{ dueAt: number }>(
        `SELECT due_at AS "dueAt" FROM subscriptions
         WHERE due_at IS NOT NULL AND NOT ${isIn('id', '$1')} AND ${isHeldBy('$2')}
         ORDER BY due_at LIMIT 1`,
        [except, owner],
      );
      return found?.dueAt ?? null;
    },
    claimDeliveries({ owner, now, endsAt, claim, receivers, subscriptionsMax, deliveriesMax, except }) {
      return quick.transact(async (statements) => {
        const due = await statements.query<StoredSubscription>(
          `SELECT ${COLUMNS} FROM subscriptions
           WHERE due_at <= $1 AND NOT ${isIn('id', '$2')} AND (failures > 0) = $4 AND ${isHeldBy('$5')}
           ORDER BY due_at LIMIT $3 ${skipLocked}`,
          [now, except, subscriptionsMax, receivers === 'failing', owner],
        );
        const batches: DeliveryBatch[] = [];
        for (const subscription of due) {
          const { id, failures } = subscription;
          const deliveries = await statements.query<ClaimedDelivery>(
            `SELECT seq, id, record, type, attempts + 1 AS attempts, body FROM deliveries
             WHERE subscription = $1 AND state = 'waiting' AND next_at <= $2 AND NOT EXISTS (
               SELECT 1 FROM deliveries AS older
               WHERE older.subscription = deliveries.subscription AND older.record = deliveries.record
                 AND older.state = 'waiting' AND older.seq < deliveries.seq
             )
             ORDER BY deliveries.attempts, seq LIMIT $3`,
            [id, now, failures > 0 ? 1 : deliveriesMax],
          );
          if (deliveries.length > 0) {
            await statements.change(
              `UPDATE deliveries SET claim = $1, attempts = attempts + 1, next_at = $2 WHERE ${isIn('seq', '$3')}`,
              [claim, endsAt, deliveries.map(({ seq }) => seq)],
            );
            await statements.change(
              `UPDATE deliveries SET next_at = $2
               WHERE subscription = $1 AND state = 'waiting' AND claim IS NULL AND ${isIn('record', '$3')}`,
              [id, endsAt, deliveries.flatMap(({ record }) => record ?? [])],
            );
            await statements.change('UPDATE subscriptions SET due_at = $2 WHERE id = $1', [id, endsAt]);
          } else {
            await updateDue(statements, id);
            await statements.change(
              `UPDATE subscriptions SET due_at = ${greatest}(due_at, $2) WHERE id = $1 AND due_at IS NOT NULL`,
              [id, now + BLOCKED_MS],
            );
          }
          batches.push({ subscription, deliveries });
        }
        return batches;
      });
    },
    async recordAttempts(id, claim, outcome) {
      const { now, results, wakesAll, disables } = outcome;
      await quick.transact(async (statements) => {
        const changed = await statements.change(
          `UPDATE subscriptions
           SET failures = $2, failing_since = $3, retry_at = $4, last_failure = $5, delivered_at = $6
           WHERE id = $1 AND EXISTS (
             SELECT 1 FROM deliveries WHERE subscription = $1 AND claim = $7 AND state = 'waiting'
           )`,
          [
            id,
            outcome.failures,
            outcome.failingSince,
            outcome.retryAt,
            outcome.lastFailure,
            outcome.deliveredAt,
            claim,
          ],
        );
        // This process was stopped for so long that another one has claimed all the deliveries.
        if (changed === 0) return;
        for (const { id: delivery, state, nextAt, status, failure, durationMs } of results) {
          const [claimed] = await statements.query<{ seq: number; record: string | null; attempts: number }>(
            `SELECT seq, record, attempts FROM deliveries
             WHERE id = $1 AND subscription = $2 AND claim = $3 AND state = 'waiting'`,
            [delivery, id, claim],
          );
          if (claimed === undefined) continue;
          const { seq, record, attempts } = claimed;
          const newer =
            record === null
              ? undefined
              : (await listWaiting(statements, id, record)).find((row) => row.seq > seq);
          const isOver = state !== 'waiting' || newer !== undefined;
          await statements.change(
            `UPDATE deliveries
             SET state = $2, next_at = $3, claim = NULL, ended_at = $4, status = $5, failure = $6, duration_ms = $7
             WHERE seq = $1`,
            [
              seq,
              state === 'waiting' && newer !== undefined ? 'merged' : state,
              isOver ? null : nextAt,
              isOver ? now : null,
              status,
              failure,
              durationMs,
            ],
          );
          if (newer === undefined) continue;
          // The waiting delivery of a newer change replaces the one that would be retried.
          await statements.change('UPDATE deliveries SET attempts = $2, next_at = $3 WHERE seq = $1', [
            newer.seq,
            state === 'waiting' ? attempts : 0,
            state === 'waiting' ? nextAt : now,
          ]);
        }
        if (wakesAll) await wakeWaiting(statements, id, now);
        if (disables !== null) {
          await statements.change(
            `UPDATE subscriptions SET state = 'disabled', reason = $2, version = version + 1
             WHERE id = $1 AND state = 'active'`,
            [id, disables],
          );
        }
        await updateDue(statements, id);
      });
    },
    advanceWaits(shards, after, ms) {
      // Shifts all waits in one transaction. If a part were shifted and the call repeated, that part would end too
      // early.
      return quick.transact(async (statements) => {
        const found = await statements.query<{ id: string }>(
          `SELECT id FROM subscriptions WHERE ${isIn('shard', '$2')} AND (
             retry_at > $1 OR EXISTS (
               SELECT 1 FROM deliveries WHERE subscription = subscriptions.id AND state = 'waiting' AND next_at > $1
             )
           )
           ORDER BY id ${forUpdate}`,
          [after, shards],
        );
        const ids = found.map(({ id }) => id);
        await statements.change(
          `UPDATE deliveries SET next_at = next_at - $3
           WHERE ${isIn('subscription', '$1')} AND state = 'waiting' AND next_at > $2`,
          [ids, after, ms],
        );
        await statements.change(
          `UPDATE subscriptions SET retry_at = retry_at - $3 WHERE ${isIn('id', '$1')} AND retry_at > $2`,
          [ids, after, ms],
        );
        await statements.change(`UPDATE subscriptions SET due_at = ${DUE_AT} WHERE ${isIn('id', '$1')}`, [
          ids,
        ]);
      });
    },
    async limitWaits({ owner, now, claimMs, retryMs }) {
      const ends = [now + claimMs, now + retryMs];
      const late = await quick.query<{ id: string }>(
        `SELECT id FROM subscriptions WHERE ${isHeldBy('$3')} AND (
           retry_at > $2 OR EXISTS (SELECT 1 FROM deliveries WHERE subscription = subscriptions.id AND ${IS_LATE})
         )`,
        [...ends, owner],
      );
      for (const { id } of late) {
        await quick.transact(async (statements) => {
          await lock(statements, id);
          await statements.change(
            `UPDATE deliveries SET next_at = CASE WHEN claim IS NOT NULL OR attempts = 0 THEN $1 ELSE $2 END
             WHERE subscription = $3 AND ${IS_LATE}`,
            [...ends, id],
          );
          await statements.change('UPDATE subscriptions SET retry_at = $1 WHERE id = $2 AND retry_at > $1', [
            now + retryMs,
            id,
          ]);
          await updateDue(statements, id);
        });
      }
    },
    async logDelivery(id, { id: delivery, type, body, state, status, failure, durationMs }, now, auditBatch) {
      const make = async (statements: Statements) => {
        await lock(statements, id);
        await statements.change(
          `INSERT INTO deliveries
             (id, subscription, type, state, attempts, created_at, ended_at, status, failure, duration_ms, body)
           VALUES ($1, $2, $3, $4, 1, $5, $5, $6, $7, $8, $9)`,
          [delivery, id, type, state, now, status, failure, durationMs, body],
        );
        if (state === 'delivered') {
          await statements.change(
            `UPDATE subscriptions
             SET failures = 0, failing_since = NULL, retry_at = NULL, delivered_at = $2, wakes = wakes + 1
             WHERE id = $1`,
            [id, now],
          );
          await wakeWaiting(statements, id, now);
          await updateDue(statements, id);
        } else {
          await statements.change('UPDATE subscriptions SET last_failure = $2 WHERE id = $1', [id, failure]);
        }
        return true;
      };
      await durable.transactWithAudit(auditBatch, make, (isLogged) => isLogged);
    },

    async listDeliveries(id, { beforeSeq, limit, state }) {
      const { values, place } = createParameters(id);
      const conditions = ['subscription = $1'];
      if (beforeSeq !== null) conditions.push(`seq < ${place(beforeSeq)}`);
      if (state !== undefined) conditions.push(`state = ${place(state)}`);
      return quick.query<DeliveryRecord>(
        `SELECT ${DELIVERY_COLUMNS} FROM deliveries WHERE ${conditions.join(' AND ')}
         ORDER BY seq DESC LIMIT ${place(limit)}`,
        values,
      );
    },
    async replay(id, delivery, now, auditBatch) {
      if (!isStorable(delivery)) return 'missing';
      return change(auditBatch, async (statements) => {
        await lock(statements, id);
        const [found] = await statements.query<{ seq: number }>(
          'SELECT seq FROM deliveries WHERE id = $1 AND subscription = $2',
          [delivery, id],
        );
        if (found === undefined) return 'missing';
        const replayed = await statements.change(
          `UPDATE deliveries SET state = 'waiting', attempts = 0, next_at = $2, claim = NULL, ended_at = NULL
           WHERE seq = $1 AND ${IS_NEWEST}`,
          [found.seq, now],
        );
        if (replayed === 0) return 'conflict';
        await updateDue(statements, id);
        await statements.change('UPDATE subscriptions SET wakes = wakes + 1 WHERE id = $1', [id]);
        return 'done';
      });
    },
    async replaySince(id, since, now, auditBatch) {
      const make = async (statements: Statements) => {
        await lock(statements, id);
        const replayed = await statements.change(
          `UPDATE deliveries SET state = 'waiting', attempts = 0, next_at = $3, claim = NULL, ended_at = NULL
           WHERE subscription = $1 AND created_at >= $2 AND ${IS_NEWEST}`,
          [id, since, now],
        );
        await updateDue(statements, id);
        await statements.change('UPDATE subscriptions SET wakes = wakes + 1 WHERE id = $1', [id]);
        return replayed;
      };
      return durable.transactWithAudit(auditBatch, make, () => true);
    },
    measure: (owner, limit) =>
      quick.query<SubscriptionBacklog>(
        `SELECT name, subscriptions.state, failures, problem, count(deliveries.seq) AS waiting,
           min(deliveries.created_at) AS "oldestAt"
         FROM subscriptions LEFT JOIN deliveries
           ON subscription = subscriptions.id AND deliveries.state = 'waiting'
         WHERE ${isHeldBy('$2')}
         GROUP BY subscriptions.id ORDER BY "oldestAt" NULLS LAST, name LIMIT $1`,
        [limit, owner],
      ),
    async prune(before, keptMax, limit) {
      // Skips locked rows: replicas must not wait for each other.
      const pick = (condition: string, place: string) =>
        `DELETE FROM deliveries WHERE seq IN (
           SELECT seq FROM deliveries WHERE ${condition} LIMIT ${place} ${skipLocked}
         )`;
      const old = await quick.change(pick('ended_at < $1', '$2'), [before, limit]);
      // One look-up in an index for each subscription, however many deliveries there are.
      const orphans = await quick.change(
        `WITH RECURSIVE known (id) AS (
           SELECT min(subscription) FROM deliveries
           UNION ALL
           SELECT (SELECT min(subscription) FROM deliveries WHERE subscription > known.id) FROM known
           WHERE id IS NOT NULL
         )
         ${pick('subscription IN (SELECT id FROM known EXCEPT SELECT id FROM subscriptions)', '$1')}`,
        [limit],
      );
      const surplus = await quick.change(
        `WITH surplus AS MATERIALIZED (
           SELECT id, (
             SELECT seq FROM deliveries WHERE subscription = subscriptions.id AND ended_at IS NOT NULL
             ORDER BY seq DESC LIMIT 1 OFFSET $1
           ) AS newest FROM subscriptions
         )
         DELETE FROM deliveries WHERE seq IN (
           SELECT ended.seq FROM surplus JOIN deliveries AS ended
             ON ended.subscription = surplus.id AND ended.seq <= surplus.newest AND ended.ended_at IS NOT NULL
           LIMIT $2
         )`,
        [keptMax, limit],
      );
      return old + orphans + surplus;
    },
  };
}
