/**
 * Works the subscriptions while this process has their lease: reads changes (poller.ts) and sends deliveries
 * (outbox.ts). Removes old deliveries. A process without subscriptions in its store does nothing.
 */

import { type PeriodicTask, startPeriodicTask } from '@erp-proxy/async/tasks';
import type { DeliveryEvent, Events } from '../observe/events.ts';
import type { LeaseStore } from '../stores/ports/leases.ts';
import type { Store } from '../stores/ports/store.ts';
import type { SubscriptionBacklog } from '../stores/ports/subscriptions.ts';
import { UnknownOutcomeError } from '../stores/unknown-outcome-error.ts';
import type { ChangeReader } from './change-reader.ts';
import { Leadership } from './leadership.ts';
import type { NoticeReader } from './notice-reader.ts';
import { type DeliveryOutcome, Outbox, type OutboxOptions } from './outbox.ts';
import { Poller } from './poller.ts';
import { type Attempt, LONGEST_DELAY_SECONDS } from './retry-schedule.ts';
import type { SendDelivery } from './sender.ts';

/** Tests set shorter ones. */
export interface WorkerTimes {
  leaseMs: number;
  claimMs: number;
  /** Time limit of an attempt to send a delivery, to the head of the answer. */
  sendMs: number;
  /** A second of intervals, and of delays before another attempt. */
  secondMs: number;
  /** How often old deliveries are removed and metrics measured. */
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
  send: SendDelivery;
  /** Identifies this process among those that share the store. */
  owner: string;
  retentionMs: number;
  /** Ended deliveries that are kept of each subscription. */
  keptMax: number;
  times: WorkerTimes;
  events: Pick<Events, 'deliveryEnded' | 'subscriptionTroubled'>;
  onError: (error: unknown) => void;
}

/** For metrics. */
export interface WorkerStates {
  isLeading: boolean;
  reading: number;
  sending: number;
  backlogs: readonly SubscriptionBacklog[];
}

export interface SubscriptionWorker {
  start(): void;
  states(): WorkerStates;
  /** Ends what runs within this time, and gives the lease up. */
  close(graceMs: number): Promise<void>;
}

const PRUNED_MAX = 1000;
/** Metrics show so many subscriptions. */
const MEASURED_MAX = 10_000;
const SEARCH_RETRY_SECONDS = 5;
/** Smaller corrections of the clock do not matter. */
const SET_BACK_MS_MIN = 1000;
/** In intervals of `upkeepMs`. A process that measured its clock longer ago does not know what others have done. */
const REMEMBERED = 2;
/** The lease of the process that has advanced the waits. It lasts longer than any other one remembers. */
const ADVANCED = 'subscriptions-advanced';

export function createSubscriptionWorker(options: WorkerOptions): SubscriptionWorker {
  const {
    store,
    reader,
    notices,
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
  const leadership = new Leadership({
    leases: store.leases,
    owner,
    nowMs,
    ttlMs: times.leaseMs,
    onChange: () => (leadership.isHeld ? begin() : poller.stop()),
    onError,
  });
  const outbox = new Outbox({
    store: subscriptions,
    leadership,
    check,
    send,
    openSecrets,
    clock,
    nowMs,
    random,
    claimMs: times.claimMs,
    secondMs: times.secondMs,
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
    leadership,
    reader,
    notices,
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
  /** By how much the clock is ahead of the monotonic one, and when that was measured. */
  let aheadMs = clock() - nowMs();
  let measuredMs = nowMs();
  /** By how much waits must end earlier. */
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

  /** A process whose store has no subscriptions asks for no lease. */
  async function lookForSubscriptions(): Promise<void> {
    if (isNeeded || isClosed) return;
    const found = await subscriptions.list({ after: null, limit: 1 });
    if (found.length === 0 || isNeeded || isClosed) return;
    isNeeded = true;
    leadership.start();
    upkeep = startPeriodicTask(keepUp, { intervalMs: times.upkeepMs, onError });
  }

  async function keepUp(): Promise<void> {
    const aheadNowMs = clock() - nowMs();
    const backMs = Math.round(aheadMs - aheadNowMs);
    // What happened before is too long ago to tell whether another process has advanced the waits.
    const isKnown = nowMs() - measuredMs < times.upkeepMs * REMEMBERED;
    aheadMs = aheadNowMs;
    measuredMs = nowMs();
    if (!leadership.isHeld) {
      owedMs = 0;
      backlogs = [];
      return;
    }
    if (backMs > SET_BACK_MS_MIN && isKnown) owedMs += backMs;
    if (owedMs > 0) await advanceWaits();
    const retryMs = LONGEST_DELAY_SECONDS * times.secondMs;
    await subscriptions.limitWaits({ now: clock(), claimMs: times.claimMs, retryMs });
    // What is due may be due earlier now.
    outbox.wake();
    backlogs = await subscriptions.measure(MEASURED_MAX);
    const before = clock() - options.retentionMs;
    while ((await subscriptions.prune(before, options.keptMax, PRUNED_MAX)) >= PRUNED_MAX && !isClosed);
  }

  /** Does nothing if another process, which had the lease before, has done so. */
  async function advanceWaits(): Promise<void> {
    const ttlMs = times.upkeepMs * (REMEMBERED + 1);
    if (await store.leases.acquire(ADVANCED, owner, ttlMs, ttlMs + SET_BACK_MS_MIN)) {
      try {
        // What is due sooner may have been stored since the clock was set back.
        await subscriptions.advanceWaits(clock() + times.claimMs, owedMs);
      } catch (error) {
        // If it may have been done, a second time would send too early.
        if (error instanceof UnknownOutcomeError) owedMs = 0;
        throw error;
      }
    }
    owedMs = 0;
  }

  function search(): void {
    clearTimeout(searchTimer);
    searching ??= lookForSubscriptions()
      .catch((error: unknown) => {
        onError(error);
        // No change may follow that would cause another search.
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
        else if (leadership.isHeld) {
          poller.load(change?.id);
          outbox.wake();
        }
      });
      search();
    },
    states: () => ({
      isLeading: leadership.isHeld,
      reading: poller.reading,
      sending: outbox.sending,
      backlogs,
    }),
    async close(graceMs) {
      isClosed = true;
      clearTimeout(searchTimer);
      await searching;
      await Promise.all([poller.close(), outbox.close(graceMs), upkeep?.close()]);
      await leadership.close();
    },
  };
}

/** Part of a claim from the head of an answer to the record of the attempt. */
const ENDING = 1 / 6;

function describeAttempt(
  subscription: string,
  { delivery, status, failure, durationMs }: Attempt,
  outcome: DeliveryOutcome,
): DeliveryEvent {
  const { id, type, attempts } = delivery;
  return { subscription, delivery: id, type, outcome, attempt: attempts, status, failure, durationMs };
}
