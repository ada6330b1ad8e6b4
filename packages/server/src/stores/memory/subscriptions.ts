/** Subscriptions and their deliveries in memory. */
import { chooseDeliveryPlace } from '../delivery-place.ts';
import { NEW_SUBSCRIPTION } from '../new-subscription.ts';
import type {
  AuditBatch,
  Change,
  ChangeListener,
  DeliveryRecord,
  StoredSubscription,
  SubscriptionStore,
} from '../ports.ts';
import { compareCodePoints, containsInAnyCase } from './text.ts';

interface Row {
  shown: StoredSubscription;
  progress: string | null;
  progressVersion: number;
  dueAt: number | null;
}

interface Delivery extends DeliveryRecord {
  readonly subscription: string;
  readonly body: string;
  readonly claim: string | null;
}

/** Delay of a subscription whose due deliveries wait for others that are being sent. */
const BLOCKED_MS = 1000;

export function createMemorySubscriptions(
  tell: ChangeListener,
  appendAct: (act: AuditBatch | undefined) => void,
): SubscriptionStore {
  const rows = new Map<string, Row>();
  /** By `seq`, in ascending order. */
  const deliveries = new Map<number, Delivery>();
  let lastSeq = 0;

  const findByName = (name: string) => [...rows.values()].find(({ shown }) => shown.name === name);
  const listOf = (id: string) => [...deliveries.values()].filter(({ subscription }) => subscription === id);
  const listWaiting = (id: string, record?: string | null) =>
    listOf(id).filter((it) => it.state === 'waiting' && (record === undefined || it.record === record));
  const put = (delivery: Delivery) => void deliveries.set(delivery.seq, delivery);
  const edit = (row: Row, changes: Partial<StoredSubscription>) => {
    row.shown = { ...row.shown, ...changes };
  };

  function updateDue(row: Row): void {
    const { id, state, retryAt } = row.shown;
    const times = listWaiting(id).map(({ nextAt }) => nextAt ?? 0);
    row.dueAt = state !== 'active' || times.length === 0 ? null : Math.max(Math.min(...times), retryAt ?? 0);
  }

  function wakeWaiting(id: string, now: number): void {
    for (const it of listWaiting(id))
      if (it.claim === null) put({ ...it, nextAt: Math.min(it.nextAt ?? now, now) });
  }

  function change(
    id: string,
    version: number,
    act: AuditBatch | undefined,
    make: (row: Row) => void,
  ): Change {
    const row = rows.get(id);
    if (row === undefined) return 'missing';
    if (row.shown.version !== version) return 'conflict';
    make(row);
    appendAct(act);
    tell({ kind: 'subscription', id });
    return 'done';
  }

  function isNewest({ subscription, record, seq, state }: Delivery): boolean {
    if (record === null || (state !== 'delivered' && state !== 'failed')) return false;
    return !listOf(subscription).some((other) => other.record === record && other.seq > seq);
  }

  function replay(row: Row, replayed: readonly Delivery[], now: number, act: AuditBatch | undefined): void {
    for (const it of replayed)
      put({ ...it, state: 'waiting', attempts: 0, nextAt: now, claim: null, endedAt: null });
    updateDue(row);
    appendAct(act);
    tell({ kind: 'subscription', id: row.shown.id });
  }

  return {
    insert(definition, max, act) {
      if (findByName(definition.name) !== undefined) return 'conflict';
      if (rows.size >= max) return 'full';
      const { id, name, body, createdAt } = definition;
      const shown: StoredSubscription = { id, name, body, createdAt, ...NEW_SUBSCRIPTION };
      rows.set(id, { shown, progress: null, progressVersion: 0, dueAt: null });
      appendAct(act);
      tell({ kind: 'subscription', id });
      return 'done';
    },
    findByName: (name) => findByName(name)?.shown ?? null,
    list({ after, limit, state, search }) {
      return [...rows.values()]
        .map(({ shown }) => shown)
        .filter(
          ({ name, body, ...row }) =>
            (after === null || compareCodePoints(name, after) > 0) &&
            (state === undefined || row.state === state) &&
            (search === undefined || containsInAnyCase([name, body], search)),
        )
        .sort((a, b) => compareCodePoints(a.name, b.name))
        .slice(0, limit);
    },
    listActive: (limit) =>
      [...rows.values()]
        .filter(({ shown }) => shown.state === 'active')
        .slice(0, limit)
        .map(({ shown: { id, name, body } }) => ({ id, name, body })),
    replace: (id, version, { body, restarts }, act) =>
      change(id, version, act, (row) => {
        edit(row, { body, version: version + 1, ...(restarts ? { problem: null } : {}) });
        if (!restarts) return;
        row.progress = null;
        row.progressVersion++;
      }),
    setState: (id, version, { state, reason, now }, act) =>
      change(id, version, act, (row) => {
        edit(row, { state, reason, version: version + 1 });
        if (state === 'active') {
          edit(row, { failures: 0, failingSince: null, retryAt: null });
          wakeWaiting(id, now);
        }
        updateDue(row);
      }),
    remove: (id, version, act) => change(id, version, act, () => void rows.delete(id)),

    readProgress(id, waitingMax) {
      const row = rows.get(id);
      if (row === undefined) return null;
      const { shown, progress, progressVersion } = row;
      const waiting = Math.min(listWaiting(id).length, waitingMax);
      return { subscription: shown, progress, progressVersion, waiting };
    },
    commitReading(id, progressVersion, { progress, now, deliveries: added }) {
      const row = rows.get(id);
      if (row?.progressVersion !== progressVersion || row.shown.state !== 'active') return false;
      row.progress = progress;
      row.progressVersion++;
      edit(row, { readAt: now, problem: null });
      for (const delivery of added) {
        const waiting = listWaiting(id, delivery.record).map((it) => ({ ...it, nextAt: it.nextAt ?? now }));
        const place = chooseDeliveryPlace(waiting, now);
        for (const older of waiting)
          if (older.claim === null) put({ ...older, state: 'merged', nextAt: null, endedAt: now });
        put({
          seq: ++lastSeq,
          ...delivery,
          ...place,
          ...NO_ANSWER,
          subscription: id,
          state: 'waiting',
          claim: null,
          createdAt: now,
          endedAt: null,
        });
      }
      if (added.length > 0) updateDue(row);
      return true;
    },
    noteReadings(notes) {
      for (const { id, at, problem } of notes) {
        const row = rows.get(id);
        if (row !== undefined) edit(row, { problem, readAt: at });
      }
    },

    findNextDue(except) {
      const times = [...rows.values()].flatMap(({ dueAt, shown }) =>
        dueAt === null || except.includes(shown.id) ? [] : dueAt,
      );
      return times.length === 0 ? null : Math.min(...times);
    },
    claimDeliveries({ now, endsAt, claim, receivers, subscriptionsMax, deliveriesMax, except }) {
      const due = [...rows.values()]
        .filter(
          ({ dueAt, shown }) =>
            dueAt !== null &&
            dueAt <= now &&
            shown.failures > 0 === (receivers === 'failing') &&
            !except.includes(shown.id),
        )
        .sort((a, b) => (a.dueAt ?? 0) - (b.dueAt ?? 0))
        .slice(0, subscriptionsMax);
      return due.map((row) => {
        const { id, failures } = row.shown;
        const waiting = listWaiting(id);
        const claimed = waiting
          .filter(
            ({ record, seq, nextAt }) =>
              (nextAt ?? 0) <= now &&
              !waiting.some((older) => record !== null && older.record === record && older.seq < seq),
          )
          .sort((a, b) => a.attempts - b.attempts || a.seq - b.seq)
          .slice(0, failures > 0 ? 1 : deliveriesMax);
        for (const it of claimed) {
          put({ ...it, claim, attempts: it.attempts + 1, nextAt: endsAt });
          for (const newer of listWaiting(id, it.record))
            if (newer.seq > it.seq) put({ ...newer, nextAt: endsAt });
        }
        if (claimed.length > 0) row.dueAt = endsAt;
        else {
          updateDue(row);
          if (row.dueAt !== null) row.dueAt = Math.max(row.dueAt, now + BLOCKED_MS);
        }
        return {
          subscription: row.shown,
          deliveries: claimed.map(({ seq, id: name, record, type, attempts, body }) => ({
            seq,
            id: name,
            record,
            type,
            attempts: attempts + 1,
            body,
          })),
        };
      });
    },
    recordAttempts(id, claim, { now, results, wakesAll, disables, ...receiver }) {
      const row = rows.get(id);
      if (row === undefined) return;
      edit(row, receiver);
      for (const { id: name, state, nextAt, ...answer } of results) {
        const it = listWaiting(id).find((waiting) => waiting.id === name && waiting.claim === claim);
        if (it === undefined) continue;
        const newer =
          it.record === null ? undefined : listWaiting(id, it.record).find(({ seq }) => seq > it.seq);
        const isOver = state !== 'waiting' || newer !== undefined;
        put({
          ...it,
          ...answer,
          state: state === 'waiting' && newer !== undefined ? 'merged' : state,
          nextAt: isOver ? null : nextAt,
          endedAt: isOver ? now : null,
          claim: null,
        });
        if (newer === undefined) continue;
        // A newer version of the record takes the place of one that is retried.
        put({
          ...newer,
          attempts: state === 'waiting' ? it.attempts : 0,
          nextAt: state === 'waiting' ? nextAt : now,
        });
      }
      if (wakesAll) wakeWaiting(id, now);
      if (disables !== null && row.shown.state === 'active') {
        edit(row, { state: 'disabled', reason: disables, version: row.shown.version + 1 });
        tell({ kind: 'subscription', id });
      }
      updateDue(row);
    },
    advanceWaits(after, ms) {
      for (const row of rows.values()) {
        const { id, retryAt } = row.shown;
        const later = listWaiting(id).filter(({ nextAt }) => (nextAt ?? 0) > after);
        for (const it of later) put({ ...it, nextAt: (it.nextAt ?? 0) - ms });
        const isLater = retryAt !== null && retryAt > after;
        if (isLater) edit(row, { retryAt: retryAt - ms });
        if (isLater || later.length > 0) updateDue(row);
      }
    },
    limitWaits({ now, claimMs, retryMs }) {
      for (const row of rows.values()) {
        const { id, retryAt } = row.shown;
        const latestOf = (it: Delivery) => now + (it.claim !== null || it.attempts === 0 ? claimMs : retryMs);
        const late = listWaiting(id).filter((it) => (it.nextAt ?? 0) > latestOf(it));
        const isLate = (retryAt ?? 0) > now + retryMs;
        if (late.length === 0 && !isLate) continue;
        for (const it of late) put({ ...it, nextAt: latestOf(it) });
        if (isLate) edit(row, { retryAt: now + retryMs });
        updateDue(row);
      }
    },
    logDelivery(id, { state, ...delivery }, now, act) {
      put({
        ...delivery,
        seq: ++lastSeq,
        subscription: id,
        record: null,
        state,
        attempts: 1,
        nextAt: null,
        claim: null,
        createdAt: now,
        endedAt: now,
      });
      appendAct(act);
      const row = rows.get(id);
      if (row === undefined) return;
      if (state === 'delivered') {
        edit(row, { failures: 0, failingSince: null, retryAt: null, deliveredAt: now });
        wakeWaiting(id, now);
        updateDue(row);
      } else edit(row, { lastFailure: delivery.failure });
      tell({ kind: 'subscription', id });
    },

    listDeliveries: (id, { beforeSeq, limit, state }) =>
      listOf(id)
        .filter(
          (it) => (beforeSeq === null || it.seq < beforeSeq) && (state === undefined || it.state === state),
        )
        .sort((a, b) => b.seq - a.seq)
        .slice(0, limit)
        .map(({ subscription: _, body: __, claim: ___, ...record }) => record),
    replay(id, delivery, now, act) {
      const row = rows.get(id);
      const found = listOf(id).find((it) => it.id === delivery);
      if (row === undefined || found === undefined) return 'missing';
      if (!isNewest(found)) return 'conflict';
      replay(row, [found], now, act);
      return 'done';
    },
    replaySince(id, since, now, act) {
      const row = rows.get(id);
      if (row === undefined) return 0;
      const replayed = listOf(id).filter((it) => it.createdAt >= since && isNewest(it));
      replay(row, replayed, now, act);
      return replayed.length;
    },
    measure: (limit) =>
      [...rows.values()]
        .map(({ shown: { id, name, state, failures, problem } }) => {
          const times = listWaiting(id).map(({ createdAt }) => createdAt);
          const oldestAt = times.length === 0 ? null : Math.min(...times);
          return { name, state, failures, problem, waiting: times.length, oldestAt };
        })
        .sort(
          (a, b) => (a.oldestAt ?? Infinity) - (b.oldestAt ?? Infinity) || compareCodePoints(a.name, b.name),
        )
        .slice(0, limit),
    prune(before, keptMax, limit) {
      const ended = [...deliveries.values()].filter(({ endedAt }) => endedAt !== null);
      const old = ended.filter(({ endedAt }) => (endedAt ?? before) < before).slice(0, limit);
      const left = ended.filter(({ endedAt }) => (endedAt ?? before) >= before);
      const orphans = [...deliveries.values()]
        .filter(({ subscription }) => !rows.has(subscription))
        .slice(0, limit);
      const surplus = [...rows.keys()]
        .flatMap((id) =>
          left.filter(({ subscription }) => subscription === id).slice(0, -keptMax || undefined),
        )
        .slice(0, limit);
      const removed = new Set([...old, ...orphans, ...surplus].map(({ seq }) => seq));
      for (const seq of removed) deliveries.delete(seq);
      return removed.size;
    },
  };
}

const NO_ANSWER = { status: null, failure: null, durationMs: null } as const;
