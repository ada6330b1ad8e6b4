/** Subscriptions and their deliveries in SQLite. */
import type { DatabaseSync, StatementResultingChanges } from 'node:sqlite';
import { chooseDeliveryPlace, type WaitingDelivery } from '../delivery-place.ts';
import type {
  AuditBatch,
  Change,
  ClaimedDelivery,
  DeliveryRecord,
  StoredSubscription,
  SubscriptionBacklog,
  SubscriptionStore,
} from '../ports.ts';
import { createActRunner } from './acts.ts';
import { transact } from './transaction.ts';

export interface SubscriptionConnections {
  /** Commits on this connection survive a power loss. */
  durable: DatabaseSync;
  /**
   * A power loss may take the last commits on this connection: the position and the deliveries of a reading together,
   * so that the changes are read again.
   */
  quick: DatabaseSync;
}

const COLUMNS = `id, name, state, reason, body, version, created_at AS createdAt, read_at AS readAt, problem,
  failures, failing_since AS failingSince, retry_at AS retryAt, last_failure AS lastFailure,
  delivered_at AS deliveredAt`;
const DELIVERY_COLUMNS = `seq, id, record, type, state, attempts, next_at AS nextAt, created_at AS createdAt,
  ended_at AS endedAt, status, failure, duration_ms AS durationMs`;
/** Null if no delivery waits, or the subscription is not active. */
const DUE_AT = `CASE state WHEN 'active' THEN (
  SELECT max(next_at, coalesce(retry_at, 0)) FROM deliveries
  WHERE subscription = subscriptions.id AND state = 'waiting' ORDER BY next_at LIMIT 1
) END`;

/** Delay of a subscription whose due deliveries wait for others that are being sent. */
const BLOCKED_MS = 1000;

interface Waiting extends WaitingDelivery {
  readonly seq: number;
}

/** `onChange` is called after each change that watchers must learn of. */
export function createSqliteSubscriptions(
  { durable, quick }: SubscriptionConnections,
  onChange: () => void,
): SubscriptionStore {
  const insert = durable.prepare(
    `INSERT INTO subscriptions (id, name, state, body, created_at) VALUES (:id, :name, 'active', :body, :createdAt)
     ON CONFLICT (name) DO NOTHING`,
  );
  const count = durable.prepare('SELECT count(*) AS count FROM subscriptions');
  const findByName = quick.prepare(`SELECT ${COLUMNS} FROM subscriptions WHERE name = ?`);
  const hasId = durable.prepare('SELECT 1 FROM subscriptions WHERE id = ?');
  const list = quick.prepare(
    `SELECT ${COLUMNS} FROM subscriptions
     WHERE name > :after AND (:state IS NULL OR state = :state)
       AND (instr(lower(name), lower(:search)) OR instr(lower(body), lower(:search)))
     ORDER BY name LIMIT :limit`,
  );
  const listActive = quick.prepare("SELECT id, name, body FROM subscriptions WHERE state = 'active' LIMIT ?");
  const replace = durable.prepare(
    `UPDATE subscriptions
     SET body = :body, version = version + 1,
         progress = CASE :restarts WHEN 1 THEN NULL ELSE progress END,
         progress_version = progress_version + :restarts,
         problem = CASE :restarts WHEN 1 THEN NULL ELSE problem END
     WHERE id = :id AND version = :version`,
  );
  const setState = durable.prepare(
    'UPDATE subscriptions SET state = :state, reason = :reason, version = version + 1 WHERE id = :id AND version = :version',
  );
  const forgetFailures = durable.prepare(
    'UPDATE subscriptions SET failures = 0, failing_since = NULL, retry_at = NULL WHERE id = ?',
  );
  const updateDue = (database: DatabaseSync) =>
    database.prepare(`UPDATE subscriptions SET due_at = ${DUE_AT} WHERE id = ?`);
  const durableUpdateDue = updateDue(durable);
  const quickUpdateDue = updateDue(quick);
  const wakeWaiting = (database: DatabaseSync) =>
    database.prepare(
      `UPDATE deliveries SET next_at = min(next_at, :now)
       WHERE subscription = :id AND state = 'waiting' AND claim IS NULL`,
    );
  const durableWakeWaiting = wakeWaiting(durable);
  const quickWakeWaiting = wakeWaiting(quick);
  const remove = durable.prepare('DELETE FROM subscriptions WHERE id = ? AND version = ?');

  const readProgress = quick.prepare(
    `SELECT ${COLUMNS}, progress, progress_version AS progressVersion FROM subscriptions WHERE id = ?`,
  );
  const countWaiting = quick.prepare(
    `SELECT count(*) AS count FROM (
       SELECT 1 FROM deliveries WHERE subscription = ? AND state = 'waiting' LIMIT ?
     )`,
  );
  const commit = quick.prepare(
    `UPDATE subscriptions
     SET progress = :progress, progress_version = progress_version + 1, read_at = :now, problem = NULL
     WHERE id = :id AND progress_version = :progressVersion AND state = 'active'`,
  );
  const note = quick.prepare('UPDATE subscriptions SET read_at = ?, problem = ? WHERE id = ?');
  const findWaiting = quick.prepare(
    `SELECT seq, attempts, next_at AS nextAt, claim FROM deliveries
     WHERE subscription = ? AND record = ? AND state = 'waiting' ORDER BY seq`,
  );
  const merge = quick.prepare(
    "UPDATE deliveries SET state = 'merged', next_at = NULL, claim = NULL, ended_at = ? WHERE seq = ?",
  );
  const insertDelivery = quick.prepare(
    `INSERT INTO deliveries (id, subscription, record, type, state, attempts, next_at, created_at, body)
     VALUES (:id, :subscription, :record, :type, 'waiting', :attempts, :nextAt, :now, :body)`,
  );

  const findNextDue = quick.prepare(
    `SELECT due_at AS dueAt FROM subscriptions
     WHERE due_at IS NOT NULL AND id NOT IN (SELECT value FROM json_each(?)) ORDER BY due_at LIMIT 1`,
  );
  const listDue = quick.prepare(
    `SELECT ${COLUMNS} FROM subscriptions
     WHERE due_at <= :now AND (failures > 0) = :isFailing AND id NOT IN (SELECT value FROM json_each(:except))
     ORDER BY due_at LIMIT :limit`,
  );
  const listClaimable = quick.prepare(
    `SELECT seq, id, record, type, attempts + 1 AS attempts, body FROM deliveries
     WHERE subscription = :id AND state = 'waiting' AND next_at <= :now AND NOT EXISTS (
       SELECT 1 FROM deliveries AS older
       WHERE older.subscription = deliveries.subscription AND older.record = deliveries.record
         AND older.state = 'waiting' AND older.seq < deliveries.seq
     )
     ORDER BY attempts, seq LIMIT :limit`,
  );
  const claimOne = quick.prepare(
    'UPDATE deliveries SET claim = ?, attempts = attempts + 1, next_at = ? WHERE seq = ?',
  );
  const delayNewer = quick.prepare(
    `UPDATE deliveries SET next_at = :nextAt
     WHERE subscription = :id AND record = :record AND state = 'waiting' AND seq > :seq`,
  );
  const setDue = quick.prepare('UPDATE subscriptions SET due_at = ? WHERE id = ?');
  const delayDue = quick.prepare('UPDATE subscriptions SET due_at = max(due_at, ?) WHERE id = ?');
  const findClaimed = quick.prepare(
    `SELECT seq, record, attempts FROM deliveries
     WHERE id = ? AND subscription = ? AND claim = ? AND state = 'waiting'`,
  );
  const endAttempt = quick.prepare(
    `UPDATE deliveries
     SET state = :state, next_at = :nextAt, claim = NULL, ended_at = :endedAt, status = :status, failure = :failure,
         duration_ms = :durationMs
     WHERE seq = :seq`,
  );
  const takeOver = quick.prepare(
    'UPDATE deliveries SET attempts = :attempts, next_at = :nextAt WHERE seq = :seq',
  );
  const setReceiver = quick.prepare(
    `UPDATE subscriptions
     SET failures = :failures, failing_since = :failingSince, retry_at = :retryAt, last_failure = :lastFailure,
         delivered_at = :deliveredAt
     WHERE id = :id`,
  );
  const disable = quick.prepare(
    "UPDATE subscriptions SET state = 'disabled', reason = ?, version = version + 1 WHERE id = ? AND state = 'active'",
  );

  const listAfter = quick.prepare(
    `SELECT id FROM subscriptions WHERE retry_at > :after
       OR EXISTS (
         SELECT 1 FROM deliveries WHERE subscription = subscriptions.id AND state = 'waiting' AND next_at > :after
       )`,
  );
  const advanceDeliveries = quick.prepare(
    `UPDATE deliveries SET next_at = next_at - :ms
     WHERE subscription = :id AND state = 'waiting' AND next_at > :after`,
  );
  const advanceRetry = quick.prepare(
    'UPDATE subscriptions SET retry_at = retry_at - :ms WHERE id = :id AND retry_at > :after',
  );
  const IS_LATE = `state = 'waiting' AND next_at > :claimEnd
    AND (claim IS NOT NULL OR attempts = 0 OR next_at > :retryEnd)`;
  const listLate = quick.prepare(
    `SELECT id FROM subscriptions WHERE retry_at > :retryEnd
       OR EXISTS (SELECT 1 FROM deliveries WHERE subscription = subscriptions.id AND ${IS_LATE})`,
  );
  const limitDeliveries = quick.prepare(
    `UPDATE deliveries SET next_at = CASE WHEN claim IS NOT NULL OR attempts = 0 THEN :claimEnd ELSE :retryEnd END
     WHERE subscription = :id AND ${IS_LATE}`,
  );
  const limitRetry = quick.prepare(
    'UPDATE subscriptions SET retry_at = :retryEnd WHERE id = :id AND retry_at > :retryEnd',
  );

  const insertEnded = durable.prepare(
    `INSERT INTO deliveries
       (id, subscription, record, type, state, attempts, created_at, ended_at, status, failure, duration_ms, body)
     VALUES (:id, :subscription, NULL, :type, :state, 1, :now, :now, :status, :failure, :durationMs, :body)`,
  );
  const noteTaken = durable.prepare(
    `UPDATE subscriptions
     SET failures = 0, failing_since = NULL, retry_at = NULL, delivered_at = ?, wakes = wakes + 1 WHERE id = ?`,
  );
  const noteFailure = durable.prepare('UPDATE subscriptions SET last_failure = ? WHERE id = ?');
  const wake = durable.prepare('UPDATE subscriptions SET wakes = wakes + 1 WHERE id = ?');
  const listDeliveries = quick.prepare(
    `SELECT ${DELIVERY_COLUMNS} FROM deliveries
     WHERE subscription = :id AND (:beforeSeq IS NULL OR seq < :beforeSeq) AND (:state IS NULL OR state = :state)
     ORDER BY seq DESC LIMIT :limit`,
  );
  const findDelivery = durable.prepare(
    'SELECT seq, record, state FROM deliveries WHERE id = ? AND subscription = ?',
  );
  const REPLAYED = "state = 'waiting', attempts = 0, next_at = :now, claim = NULL, ended_at = NULL";
  const IS_NEWEST = `record IS NOT NULL AND state IN ('delivered', 'failed') AND NOT EXISTS (
    SELECT 1 FROM deliveries AS newer
    WHERE newer.subscription = deliveries.subscription AND newer.record = deliveries.record
      AND newer.seq > deliveries.seq
  )`;
  const replayOne = durable.prepare(`UPDATE deliveries SET ${REPLAYED} WHERE seq = :seq AND ${IS_NEWEST}`);
  const replayMany = durable.prepare(
    `UPDATE deliveries SET ${REPLAYED} WHERE subscription = :id AND created_at >= :since AND ${IS_NEWEST}`,
  );
  const measure = quick.prepare(
    `SELECT name, state, failures, problem,
       (SELECT count(*) FROM deliveries WHERE subscription = subscriptions.id AND state = 'waiting') AS waiting,
       (SELECT min(created_at) FROM deliveries
        WHERE subscription = subscriptions.id AND state = 'waiting') AS oldestAt
     FROM subscriptions ORDER BY oldestAt IS NULL, oldestAt, name LIMIT ?`,
  );
  const pruneOld = quick.prepare(
    'DELETE FROM deliveries WHERE seq IN (SELECT seq FROM deliveries WHERE ended_at < ? LIMIT ?)',
  );
  // One look-up in an index for each subscription, however many deliveries there are.
  const pruneOrphans = quick.prepare(
    `WITH RECURSIVE known (id) AS (
       SELECT min(subscription) FROM deliveries
       UNION ALL
       SELECT (SELECT min(subscription) FROM deliveries WHERE subscription > known.id) FROM known
       WHERE id IS NOT NULL
     )
     DELETE FROM deliveries WHERE seq IN (
       SELECT seq FROM deliveries
       WHERE subscription IN (SELECT id FROM known WHERE id NOT IN (SELECT id FROM subscriptions)) LIMIT ?
     )`,
  );
  const listIds = quick.prepare('SELECT id FROM subscriptions');
  const pruneSurplus = quick.prepare(
    `DELETE FROM deliveries WHERE seq IN (
       SELECT seq FROM deliveries WHERE subscription = :id AND ended_at IS NOT NULL
       ORDER BY seq DESC LIMIT :limit OFFSET :keptMax
     )`,
  );

  const runWithAct = createActRunner(durable);

  function run(
    id: string,
    act: AuditBatch | undefined,
    change: () => StatementResultingChanges,
    after: () => void = () => {},
  ): Change {
    const changed = runWithAct(
      act,
      () => {
        const { changes } = change();
        if (changes !== 0) after();
        return changes;
      },
      (changes) => changes !== 0,
    );
    if (changed === 0) return hasId.get(id) ? 'conflict' : 'missing';
    onChange();
    return 'done';
  }

  return {
    insert(subscription, max, act) {
      const outcome = runWithAct(
        act,
        () => {
          if (findByName.get(subscription.name) !== undefined) return 'conflict';
          if (Number(count.get()?.['count']) >= max) return 'full';
          return insert.run({ ...subscription }).changes === 0 ? 'conflict' : 'done';
        },
        (result) => result === 'done',
      );
      if (outcome === 'done') onChange();
      return outcome;
    },
    findByName: (name) => (findByName.get(name) as StoredSubscription | undefined) ?? null,
    list: ({ after, limit, state = null, search = '' }) =>
      list.all({ after: after ?? '', limit, state, search }) as unknown as StoredSubscription[],
    listActive: (limit) => listActive.all(limit) as unknown as StoredSubscription[],
    replace: (id, version, { body, restarts }, act) =>
      run(id, act, () => replace.run({ id, version, body, restarts: restarts ? 1 : 0 })),
    setState: (id, version, { state, reason, now }, act) =>
      run(
        id,
        act,
        () => setState.run({ id, version, state, reason }),
        () => {
          if (state === 'active') {
            forgetFailures.run(id);
            durableWakeWaiting.run({ id, now });
          }
          durableUpdateDue.run(id);
        },
      ),
    remove: (id, version, act) => run(id, act, () => remove.run(id, version)),

    readProgress(id, waitingMax) {
      const row = readProgress.get(id);
      if (row === undefined) return null;
      const { progress, progressVersion, ...subscription } = row;
      return {
        subscription: subscription as unknown as StoredSubscription,
        progress: progress as string | null,
        progressVersion: Number(progressVersion),
        waiting: Number(countWaiting.get(id, waitingMax)?.['count']),
      };
    },
    commitReading(id, progressVersion, { progress, now, deliveries }) {
      return transact(quick, () => {
        if (commit.run({ id, progressVersion, progress, now }).changes === 0) return false;
        for (const delivery of deliveries) {
          const waiting = findWaiting.all(id, delivery.record) as unknown as Waiting[];
          const place = chooseDeliveryPlace(waiting, now);
          for (const { seq, claim } of waiting) if (claim === null) merge.run(now, seq);
          insertDelivery.run({ ...delivery, ...place, subscription: id, now });
        }
        if (deliveries.length > 0) quickUpdateDue.run(id);
        return true;
      });
    },
    noteReadings(notes) {
      transact(quick, () => {
        for (const { id, at, problem } of notes) note.run(at, problem, id);
      });
    },

    findNextDue: (except) => (findNextDue.get(JSON.stringify(except))?.['dueAt'] ?? null) as number | null,
    claimDeliveries({ now, endsAt, claim, receivers, subscriptionsMax, deliveriesMax, except }) {
      const isFailing = receivers === 'failing' ? 1 : 0;
      return transact(quick, () =>
        listDue
          .all({ now, isFailing, except: JSON.stringify(except), limit: subscriptionsMax })
          .map((row) => {
            const subscription = row as unknown as StoredSubscription;
            const { id, failures } = subscription;
            const limit = failures > 0 ? 1 : deliveriesMax;
            const deliveries = listClaimable.all({ id, now, limit }) as unknown as ClaimedDelivery[];
            for (const { seq, record } of deliveries) {
              claimOne.run(claim, endsAt, seq);
              if (record !== null) delayNewer.run({ id, record, seq, nextAt: endsAt });
            }
            if (deliveries.length > 0) setDue.run(endsAt, id);
            else {
              quickUpdateDue.run(id);
              delayDue.run(now + BLOCKED_MS, id);
            }
            return { subscription, deliveries };
          }),
      );
    },
    recordAttempts(id, claim, { now, results, wakesAll, disables, ...receiver }) {
      transact(quick, () => {
        setReceiver.run({
          id,
          failures: receiver.failures,
          failingSince: receiver.failingSince,
          retryAt: receiver.retryAt,
          lastFailure: receiver.lastFailure,
          deliveredAt: receiver.deliveredAt,
        });
        for (const { id: delivery, state, nextAt, status, failure, durationMs } of results) {
          const claimed = findClaimed.get(delivery, id, claim);
          if (claimed === undefined) continue;
          const { seq, record, attempts } = claimed as {
            seq: number;
            record: string | null;
            attempts: number;
          };
          const newer =
            record === null ? undefined : findWaiting.all(id, record).find((row) => Number(row['seq']) > seq);
          const isOver = state !== 'waiting' || newer !== undefined;
          endAttempt.run({
            seq,
            state: state === 'waiting' && newer !== undefined ? 'merged' : state,
            nextAt: isOver ? null : nextAt,
            endedAt: isOver ? now : null,
            status,
            failure,
            durationMs,
          });
          if (newer === undefined) continue;
          // A newer version of the record takes the place of one that is retried.
          takeOver.run({
            seq: Number(newer['seq']),
            attempts: state === 'waiting' ? attempts : 0,
            nextAt: state === 'waiting' ? nextAt : now,
          });
        }
        if (wakesAll) quickWakeWaiting.run({ id, now });
        if (disables !== null) disable.run(disables, id);
        quickUpdateDue.run(id);
      });
      if (disables !== null) onChange();
    },
    advanceWaits(after, ms) {
      transact(quick, () => {
        for (const row of listAfter.all({ after })) {
          const id = String(row['id']);
          advanceDeliveries.run({ id, after, ms });
          advanceRetry.run({ id, after, ms });
          quickUpdateDue.run(id);
        }
      });
    },
    limitWaits({ now, claimMs, retryMs }) {
      const [claimEnd, retryEnd] = [now + claimMs, now + retryMs];
      transact(quick, () => {
        for (const row of listLate.all({ claimEnd, retryEnd })) {
          const id = String(row['id']);
          limitDeliveries.run({ id, claimEnd, retryEnd });
          limitRetry.run({ id, retryEnd });
          quickUpdateDue.run(id);
        }
      });
    },
    logDelivery(id, { state, ...delivery }, now, act) {
      runWithAct(
        act,
        () => {
          insertEnded.run({ ...delivery, subscription: id, state, now });
          if (state === 'delivered') {
            noteTaken.run(now, id);
            durableWakeWaiting.run({ id, now });
            durableUpdateDue.run(id);
          } else noteFailure.run(delivery.failure, id);
        },
        () => true,
      );
      onChange();
    },

    listDeliveries: (id, { beforeSeq, limit, state = null }) =>
      listDeliveries.all({ id, beforeSeq, limit, state }) as unknown as DeliveryRecord[],
    replay(id, delivery, now, act) {
      const outcome = runWithAct<Change>(
        act,
        () => {
          const found = findDelivery.get(delivery, id);
          if (found === undefined) return 'missing';
          if (replayOne.run({ seq: Number(found['seq']), now }).changes === 0) return 'conflict';
          durableUpdateDue.run(id);
          wake.run(id);
          return 'done';
        },
        (result) => result === 'done',
      );
      onChange();
      return outcome;
    },
    replaySince(id, since, now, act) {
      const replayed = runWithAct(
        act,
        () => {
          const { changes } = replayMany.run({ id, since, now });
          durableUpdateDue.run(id);
          wake.run(id);
          return Number(changes);
        },
        () => true,
      );
      onChange();
      return replayed;
    },
    measure: (limit) => measure.all(limit) as unknown as SubscriptionBacklog[],
    prune(before, keptMax, limit) {
      let removed = Number(pruneOld.run(before, limit).changes);
      removed += Number(pruneOrphans.run(limit).changes);
      for (const row of listIds.all()) {
        if (removed >= limit) break;
        removed += Number(pruneSurplus.run({ id: String(row['id']), keptMax, limit }).changes);
      }
      return removed;
    },
  };
}
