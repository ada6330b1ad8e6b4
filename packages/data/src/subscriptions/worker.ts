/**
 * Reads changes (poller.ts), sends deliveries (outbox.ts) and removes old deliveries, of the subscriptions in the
 * shards that this process holds (shards.ts). A process whose store has no subscriptions does none of this.
 */

import { type PeriodicTask, startPeriodicTask } from '@erp-proxy/async/tasks';
import type { DeliveryEvent, Events } from '@erp-proxy/observe/events';
import { UnknownOutcomeError } from '@erp-proxy/stores';
import type { LeaseStore, Store, SubscriptionBacklog } from '@erp-proxy/stores/ports';
import type { ChangeReader } from './change-reader.ts';
import type { JobNoticeReader, NoticeReader } from './notice-reader.ts';
import { type DeliveryOutcome, Outbox, type OutboxOptions } from './outbox.ts';
import { Poller } from './poller.ts';
import { type Attempt, LONGEST_DELAY_SECONDS } from './retry-schedule.ts';
import type { SendDelivery } from './sender.ts';
import { Shards } from './shards.ts';

/** Times of the worker. Tests set shorter ones. */
export interface WorkerTimes {
  leaseMs: number;
  claimMs: number;
  /** Time limit of an attempt to send a delivery, up to the head of the answer. */
  sendMs: number;
  /** Duration of one second of the intervals, and of the delays between attempts. */
  secondMs: number;
  /** Interval at which old deliveries are removed and metrics are measured. */
  upkeepMs: number;
}

export const WORKER_TIMES: WorkerTimes = {
  leaseMs: 15_000,
  claimMs: 30_000,
  sendMs: 15_000,
  secondMs: 1000,
  upkeepMs: 30_000,
};

export interface WorkerOptions
  extends Pick<OutboxOptions, 'check' | 'openSecrets' | 'clock' | 'nowMs' | 'random'> {
  store: Pick<Store, 'subscriptions' | 'watch'> & { leases: LeaseStore };
  reader: ChangeReader;
  notices: NoticeReader;
  jobs: JobNoticeReader;
  send: SendDelivery;
  /** Identifies this process among those that share the store. */
  owner: string;
  retentionMs: number;
  /** Maximum number of ended deliveries that are kept of each subscription. */
  keptMax: number;
  times: WorkerTimes;
  events: Pick<Events, 'deliveryEnded' | 'subscriptionTroubled'>;
  onError: (error: unknown) => void;
}

/** State of the worker for metrics. */
export interface WorkerStates {
  /** The shards that this process holds. */
  shards: readonly number[];
  reading: number;
  sending: number;
  backlogs: readonly SubscriptionBacklog[];
}

export interface SubscriptionWorker {
  start(): void;
  /** Reports ended jobs at once, as far as this process has their subscriptions. Others follow at their interval. */
  readJobs(): void;
  states(): WorkerStates;
  /** Ends running work within `graceMs`, and releases the shards. */
  close(graceMs: number): Promise<void>;
}

const PRUNED_MAX = 1000;
/** Maximum number of subscriptions in metrics. */
const MEASURED_MAX = 10_000;
const SEARCH_RETRY_SECONDS = 5;
/** Smaller corrections of the clock are ignored. */
const SET_BACK_MS_MIN = 1000;
/**
 * Number of intervals `upkeepMs` for which a measurement of the clock counts. A process with an older one does not know
 * whether another process has advanced the waits.
 */
const REMEMBERED = 2;
/**
 * Start of the name of the lease of the process that has advanced the waits of a shard. It lasts longer than any
 * measurement counts.
 */
const ADVANCED = 'subscriptions-advanced-';
/** The process with this shard also does the work that concerns all shards. */
const FIRST_SHARD = 0;

export function createSubscriptionWorker(options: WorkerOptions): SubscriptionWorker {
  const {
    store,
    reader,
    notices,
    jobs,
    check,
    send,
    owner,
    clock,
    nowMs,
    random,
    openSecrets,
    times,
    events,
    onError,
  } = options;
  const subscriptions = store.subscriptions;
  const shards = new Shards({
    store: subscriptions,
    owner,
    nowMs,
    ttlMs: times.leaseMs,
    onChange: begin,
    onError,
  });
  const outbox = new Outbox({
    store: subscriptions,
    owner,
    shards,
    check,
    send,
    openSecrets,
    clock,
    nowMs,
    random,
    claimMs: times.claimMs,
    secondMs: times.secondMs,
    slowMs: times.sendMs * SLOW,
    // An attempt that begins later could last longer than its claim.
    beginsWithinMs: Math.max(0, times.claimMs - times.sendMs - times.claimMs * ENDING),
    onAttempt: (subscription, attempt, outcome) =>
      events.deliveryEnded(describeAttempt(subscription, attempt, outcome)),
    onDisabled: (subscription, reason) =>
      events.subscriptionTroubled({ subscription, kind: 'disabled', reason }),
    onError,
  });
  const poller = new Poller({
    store: subscriptions,
    owner,
    shards,
    reader,
    notices,
    jobs,
    secondMs: times.secondMs,
    clock,
    nowMs,
    random,
    onDeliveries: () => outbox.wake(),
    onProblem: (subscription, reason) =>
      events.subscriptionTroubled({ subscription, kind: 'unreadable', reason }),
    onPaused: (subscription, reason) => events.subscriptionTroubled({ subscription, kind: 'paused', reason }),
    onError,
  });
  let backlogs: readonly SubscriptionBacklog[] = [];
  /** Difference between the clock and the monotonic clock, and the time at which it was measured. */
  let aheadMs = clock() - nowMs();
  let measuredMs = nowMs();
  /** Time by which waits must still be shortened. */
  let owedMs = 0;
  let upkeep: PeriodicTask | undefined;
  let isClosed = false;
  let isNeeded = false;
  let searching: Promise<void> | null = null;
  let searchTimer: NodeJS.Timeout | undefined;

  function begin(): void {
    poller.load();
    outbox.wake();
    upkeep?.run();
  }

  /** Takes part in the work only if the store has a subscription. */
  async function lookForSubscriptions(): Promise<void> {
    if (isNeeded || isClosed) return;
    const found = await subscriptions.list({ after: null, limit: 1 });
    if (found.length === 0 || isNeeded || isClosed) return;
    isNeeded = true;
    shards.start();
    upkeep = startPeriodicTask(keepUp, { intervalMs: times.upkeepMs, onError });
  }

  async function keepUp(): Promise<void> {
    const aheadNowMs = clock() - nowMs();
    const backMs = Math.round(aheadMs - aheadNowMs);
    // After an older measurement, this process cannot know whether another one has advanced the waits.
    const isKnown = nowMs() - measuredMs < times.upkeepMs * REMEMBERED;
    aheadMs = aheadNowMs;
    measuredMs = nowMs();
    if (!shards.holdsAny) {
      owedMs = 0;
      backlogs = [];
      return;
    }
    if (backMs > SET_BACK_MS_MIN && isKnown) owedMs += backMs;
    if (owedMs > 0) await advanceWaits();
    const retryMs = LONGEST_DELAY_SECONDS * times.secondMs;
    await subscriptions.limitWaits({ owner, now: clock(), claimMs: times.claimMs, retryMs });
    // Deliveries may be due earlier now.
    outbox.wake();
    backlogs = await subscriptions.measure(owner, MEASURED_MAX);
    if (!shards.holds(FIRST_SHARD)) return;
    const before = clock() - options.retentionMs;
    while ((await subscriptions.prune(before, options.keptMax, PRUNED_MAX)) >= PRUNED_MAX && !isClosed);
  }

  /** Advances the waits, except those in shards for which another process that held the shard before has done so. */
  async function advanceWaits(): Promise<void> {
    const ttlMs = times.upkeepMs * (REMEMBERED + 1);
    const advanced: number[] = [];
    for (const shard of shards.held)
      if (await store.leases.acquire(ADVANCED + shard, owner, ttlMs, ttlMs + SET_BACK_MS_MIN))
        advanced.push(shard);
    try {
      // Waits that end sooner may be from after the clock was set back.
      if (advanced.length > 0) await subscriptions.advanceWaits(advanced, clock() + times.claimMs, owedMs);
    } catch (error) {
      // The waits may have been advanced: a second time would send too early.
      if (error instanceof UnknownOutcomeError) owedMs = 0;
      throw error;
    }
    owedMs = 0;
  }

  function search(): void {
    clearTimeout(searchTimer);
    searching ??= lookForSubscriptions()
      .catch((error: unknown) => {
        onError(error);
        // Retries, because no further change may come that starts another search.
        if (!isClosed) searchTimer = setTimeout(search, SEARCH_RETRY_SECONDS * times.secondMs).unref();
      })
      .finally(() => {
        searching = null;
      });
  }

  return {
    start() {
      store.watch((change) => {
        if (isClosed) return;
        if (change === null) poller.retry(() => true);
        if (change?.kind === 'instance') poller.retry((it) => 'instance' in it && it.instance === change.id);
        if (change?.kind === 'key') poller.readOf(change.id);
        if (change !== null && change.kind !== 'subscription') return;
        if (!isNeeded) search();
        else if (shards.holdsAny) {
          poller.load(change?.id);
          outbox.wake();
        }
      });
      search();
    },
    readJobs: () => poller.readJobs(),
    states: () => ({
      shards: shards.held,
      reading: poller.reading,
      sending: outbox.sending,
      backlogs,
    }),
    async close(graceMs) {
      isClosed = true;
      clearTimeout(searchTimer);
      await searching;
      await Promise.all([poller.close(), outbox.close(graceMs), upkeep?.close()]);
      await shards.close();
    },
  };
}

/** Fraction of the time limit of an attempt after which its receiver counts as slow. */
const SLOW = 1 / 8;
/** Fraction of a claim that is reserved for the time from the head of an answer to the record of the attempt. */
const ENDING = 1 / 6;

function describeAttempt(
  subscription: string,
  { delivery, status, failure, durationMs }: Attempt,
  outcome: DeliveryOutcome,
): DeliveryEvent {
  const { id, type, attempts } = delivery;
  return { subscription, delivery: id, type, outcome, attempt: attempts, status, failure, durationMs };
}
