/**
 * Reads the changes and events of the active subscriptions in the shards that this process holds, each at its interval
 * (one such poll is called a reading), and stores the position with the deliveries in one transaction. One timer serves
 * all subscriptions. An instance that does not answer delays only its own subscriptions.
 */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type {
  ActiveSubscription,
  Reading,
  SubscriptionProgress,
  SubscriptionStore,
} from '@erp-proxy/stores/ports';
import type { ChangeReader, ReadRefusal, ReadResult } from './change-reader.ts';
import {
  buildDelivery,
  buildJobNotice,
  buildKeyNotice,
  createDeliveryId,
  type RecordChange,
} from './delivery-body.ts';
import type { JobNoticeReader, NoticeReader } from './notice-reader.ts';
import {
  changeIdParts,
  followIds,
  followNotices,
  includesId,
  keepLast,
  parseProgress,
  printProgress,
  readSeenNotices,
  readWatchedIds,
  takeIdsAfter,
  WATCHED_IDS_MAX,
} from './progress.ts';
import { ReadingOutcomes } from './reading-outcomes.ts';
import {
  type EventSubscription,
  type RecordSubscription,
  readSubscription,
  type Subscription,
  SubscriptionRowError,
} from './row.ts';
import type { HeldShards } from './shards.ts';
import { TimeQueue } from './time-queue.ts';

export interface PollerOptions {
  store: SubscriptionStore;
  /** Identifies this process. */
  owner: string;
  shards: HeldShards;
  reader: ChangeReader;
  notices: NoticeReader;
  jobs: JobNoticeReader;
  /** Duration of one second of the intervals. Tests set a shorter one. */
  secondMs: number;
  /** Milliseconds since 1970. */
  clock: () => number;
  /** Monotonic clock in milliseconds. */
  nowMs: () => number;
  random: () => number;
  /** Called after new deliveries were stored. */
  onDeliveries: () => void;
  /** Called when a subscription has a new or different problem. */
  onProblem: (subscription: string, problem: string) => void;
  onPaused: (subscription: string, reason: string) => void;
  onError: (error: unknown) => void;
}

/** An active subscription, and the state of its readings in this process. */
interface PolledSubscription {
  readonly subscription: Subscription;
  /** The row from which the subscription was parsed. */
  row: ActiveSubscription;
  /** Consecutive readings that failed. */
  failures: number;
  problem: string | null;
  /** Until this time of the monotonic clock, the position is stored again only together with changes. */
  storedUntilMs: number;
  /** Id after which the search for vanished records continues. */
  checkedTo: number;
  /**
   * True if the subscription, its instance or its key was changed during a reading: the next reading follows at once.
   */
  isOutdated: boolean;
}

const READINGS_MAX = 16;
const READINGS_OF_SOURCE_MAX = 2;
/** Maximum number of due subscriptions that one turn of the event loop handles. The timer handles the rest. */
const TAKEN_AT_ONCE = 500;
/** Maximum number of successive readings of one subscription that has more changes. */
const READINGS_OF_TURN_MAX = 20;
/** A subscription with this many waiting deliveries is not read. It misses no change, because its position stays. */
const WAITING_MAX = 10_000;
const PAUSE_MS_MAX = 600_000;
/** Minimum time between two writes of the position of a subscription without changes. */
const STORED_MS = 300_000;
const LOAD_RETRY_MS = 5000;
const CHECKED_IDS_MAX = 1000;
/** Maximum number of ended jobs that one reading reports. */
const JOBS_MAX = 100;
const JITTER = 0.05;
export const SUBSCRIPTIONS_MAX = 10_000;
/**
 * The first readings of many subscriptions, after a start or of another process, are spread over this time, or over
 * their interval if that is shorter.
 */
const SPREAD_MS_MAX = 60_000;
const SPREAD_FROM = 20;
const PARSED_AT_ONCE = 200;

export class Poller {
  readonly #options: PollerOptions;
  /** The active subscriptions, by id. */
  readonly #known = new Map<string, PolledSubscription>();
  /** The time of the next reading of each active subscription. */
  readonly #queue = new TimeQueue();
  /** Due subscriptions that wait until another reading of their source ends, by source. */
  readonly #held = new Map<string, string[]>();
  /** The running readings, by the id of their subscription. */
  readonly #running = new Map<string, Promise<void>>();
  /** Number of running readings, by source. */
  readonly #runningOf = new Map<string, number>();
  readonly #closing = new AbortController();
  readonly #outcomes: ReadingOutcomes;
  #timer: NodeJS.Timeout | undefined;
  #retryTimer: NodeJS.Timeout | undefined;
  #loading: Promise<void> | null = null;
  #mustLoad = false;

  constructor(options: PollerOptions) {
    this.#options = options;
    this.#outcomes = new ReadingOutcomes(options);
  }

  get reading(): number {
    return this.#running.size;
  }

  get active(): number {
    return this.#known.size;
  }

  /** Reads the list of active subscriptions again. The subscription with the id `changed` is read at once. */
  load(changed?: string): void {
    this.#mustLoad = true;
    const known = changed === undefined ? undefined : this.#known.get(changed);
    if (known !== undefined) this.#readAtOnce(known);
    this.#loading ??= this.#loadAll().finally(() => {
      this.#loading = null;
    });
  }

  /**
   * Call this when a key was changed. Its subscriptions are read at once, which shows whether the key is still valid.
   */
  readOf(key: string): void {
    for (const known of this.#known.values())
      if ('key' in known.subscription && known.subscription.key === key) this.#readAtOnce(known);
    this.#run();
  }

  /** Call this when a job has ended. Its end is reported at once if this process reads the subscription. */
  readJobs(): void {
    for (const known of this.#known.values())
      if ('events' in known.subscription && known.subscription.events.includes('job.ended'))
        this.#readAtOnce(known);
    this.#run();
  }

  /**
   * Call this when an instance was changed. Reads the subscriptions at once that the instance may have kept from
   * reading. A running reading is repeated, because it may have begun before the change.
   */
  retry(concerns: (subscription: Subscription) => boolean): void {
    for (const [id, known] of this.#known)
      if (concerns(known.subscription) && (known.failures > 0 || this.#running.has(id)))
        this.#readAtOnce(known);
    this.#run();
  }

  #readAtOnce(known: PolledSubscription): void {
    const { id } = known.subscription;
    if (this.#running.has(id)) known.isOutdated = true;
    // A held subscription is due already.
    else if (this.#queue.has(id)) this.#queue.set(id, this.#options.nowMs());
  }

  async close(): Promise<void> {
    this.#closing.abort();
    clearTimeout(this.#timer);
    clearTimeout(this.#retryTimer);
    await this.#loading;
    await Promise.all(this.#running.values());
    await this.#outcomes.close();
  }

  async #loadAll(): Promise<void> {
    const { store, owner, shards, onError } = this.#options;
    while (this.#mustLoad && !this.#closing.signal.aborted) {
      this.#mustLoad = false;
      try {
        await this.#take(shards.holdsAny ? await store.listActive(owner, SUBSCRIPTIONS_MAX) : []);
      } catch (error) {
        onError(error);
        this.#retryTimer = setTimeout(() => this.load(), LOAD_RETRY_MS).unref();
      }
    }
    this.#run();
  }

  /** Parses only rows that have changed, in slices, so that other work does not wait. */
  async #take(rows: readonly ActiveSubscription[]): Promise<void> {
    const { nowMs, random, secondMs } = this.#options;
    let parsed = 0;
    const present = new Set<string>();
    const spreads = rows.filter(({ id }) => !this.#known.has(id)).length > SPREAD_FROM;
    for (const row of rows) {
      present.add(row.id);
      const known = this.#known.get(row.id);
      if (known !== undefined && known.row.body === row.body && known.row.name === row.name) continue;
      if (++parsed % PARSED_AT_ONCE === 0) {
        await yieldToEventLoop();
        if (this.#closing.signal.aborted) return;
      }
      const subscription = this.#read(row);
      if (subscription === null) continue;
      if (known !== undefined && isEqual(known.subscription, subscription)) {
        known.row = row;
        continue;
      }
      this.#known.set(row.id, {
        subscription,
        row,
        failures: 0,
        problem: known?.problem ?? null,
        storedUntilMs: 0,
        checkedTo: 0,
        isOutdated: false,
      });
      if (this.#running.has(row.id)) continue;
      const spreadMs = Math.min(subscription.interval_seconds * secondMs, SPREAD_MS_MAX);
      this.#queue.set(row.id, nowMs() + (spreads ? spreadMs * random() : 0));
    }
    for (const id of this.#known.keys()) {
      if (present.has(id)) continue;
      this.#known.delete(id);
      this.#queue.delete(id);
    }
  }

  #read(row: { id: string; name: string; body: string }): Subscription | null {
    try {
      return readSubscription(row);
    } catch (error) {
      if (!(error instanceof SubscriptionRowError)) throw error;
      this.#outcomes.add(row.id, error.message);
      return null;
    }
  }

  /** Begins the readings that are due, up to the maximum. */
  readonly #run = (): void => {
    clearTimeout(this.#timer);
    const { nowMs, shards } = this.#options;
    if (this.#closing.signal.aborted || !shards.holdsAny) return;
    for (let taken = 0; this.#running.size < READINGS_MAX && taken < TAKEN_AT_ONCE; taken++) {
      const id = this.#queue.takeDue(nowMs());
      if (id === null) break;
      const known = this.#known.get(id);
      if (known === undefined || this.#running.has(id)) continue;
      if (!shards.holds(known.row.shard)) {
        // Another process reads it. If the shard returns, the list that is then read has the subscription again.
        this.#known.delete(id);
        continue;
      }
      const source = nameSource(known.subscription);
      if ((this.#runningOf.get(source) ?? 0) < READINGS_OF_SOURCE_MAX) this.#begin(id, known);
      else this.#hold(source, id);
    }
    const { nextAt } = this.#queue;
    // At the maximum, the end of a reading runs this function again.
    if (nextAt === null || this.#running.size >= READINGS_MAX) return;
    this.#timer = setTimeout(this.#run, Math.max(1, nextAt - nowMs())).unref();
  };

  #begin(id: string, known: PolledSubscription): void {
    const source = nameSource(known.subscription);
    const { onError, nowMs } = this.#options;
    known.isOutdated = false;
    this.#runningOf.set(source, (this.#runningOf.get(source) ?? 0) + 1);
    const reading = this.#poll(id, known)
      .catch((error: unknown) => {
        onError(error);
        known.failures++;
      })
      .finally(() => {
        this.#running.delete(id);
        this.#leave(source);
        const current = this.#known.get(id);
        // A subscription that was changed during the reading is read again at once.
        const isAtOnce = current !== known || known.isOutdated;
        if (current !== undefined) this.#queue.set(id, nowMs() + (isAtOnce ? 0 : this.#choosePauseMs(known)));
        this.#run();
      });
    this.#running.set(id, reading);
  }

  #hold(source: string, id: string): void {
    const held = this.#held.get(source);
    // Appends in place: copying the list would take long if thousands of subscriptions are due at once.
    if (held === undefined) this.#held.set(source, [id]);
    else held.push(id);
  }

  #leave(source: string): void {
    const left = (this.#runningOf.get(source) ?? 1) - 1;
    if (left === 0) this.#runningOf.delete(source);
    else this.#runningOf.set(source, left);
    const held = this.#held.get(source);
    let next = held?.shift();
    while (next !== undefined && !this.#known.has(next)) next = held?.shift();
    if (held?.length === 0) this.#held.delete(source);
    if (next !== undefined) this.#queue.set(next, this.#options.nowMs());
  }

  #choosePauseMs({ subscription, failures }: PolledSubscription): number {
    const intervalMs = subscription.interval_seconds * this.#options.secondMs;
    const pauseMs =
      failures === 0
        ? intervalMs
        : Math.max(intervalMs, Math.min(intervalMs * 2 ** Math.min(failures - 1, 10), PAUSE_MS_MAX));
    return pauseMs * (1 - JITTER + 2 * JITTER * this.#options.random());
  }

  async #poll(id: string, known: PolledSubscription): Promise<void> {
    for (let count = 0; count < READINGS_OF_TURN_MAX; count++) {
      const progress = await this.#options.store.readProgress(id, WAITING_MAX);
      if (progress === null || progress.subscription.state !== 'active') return;
      if (progress.waiting >= WAITING_MAX) return;
      if (!(await this.#readOnce(known, progress))) return;
      if (!this.#options.shards.holds(known.row.shard) || this.#known.get(id) !== known) return;
    }
  }

  /** True if the next reading may follow at once. */
  async #readOnce(known: PolledSubscription, before: SubscriptionProgress): Promise<boolean> {
    // The subscription may have changed in the store since the list was read.
    const subscription = readSubscription(before.subscription);
    return 'events' in subscription
      ? this.#readEvents(known, subscription, before)
      : this.#readRecords(known, subscription, before);
  }

  /**
   * The position is the list of seen notices (progress.ts), and the store knows which jobs were reported. Both are
   * stored together with the deliveries, so that each event is stored once, whichever process reads it.
   */
  async #readEvents(
    known: PolledSubscription,
    subscription: EventSubscription,
    before: SubscriptionProgress,
  ): Promise<boolean> {
    const { id, start, events } = subscription;
    const { notices, jobs } = this.#options;
    const due = events.includes('key.ends') ? await notices.listDue() : [];
    const ended = events.includes('job.ended') ? await jobs.listUnreported(id, JOBS_MAX) : [];
    if (due === null) return this.#fail(known, before, NO_NOTICES);
    known.failures = 0;
    const now = this.#options.clock();
    const seen = readSeenNotices(parseProgress(before.progress));
    const isSeen = new Set(seen?.map(([notice]) => notice));
    const progress = JSON.stringify({ reader: followNotices(seen ?? [], due, now) });
    if (progress === before.progress && ended.length === 0) {
      this.#outcomes.add(id, null);
      known.problem = null;
      return false;
    }
    const fresh = seen === null && start === 'now' ? [] : due.filter(({ notice }) => !isSeen.has(notice));
    const deliveries = [
      ...fresh.map((notice) => ({
        id: createDeliveryId(),
        record: notice.keyId,
        ...buildKeyNotice(subscription, notice, now),
      })),
      ...ended.map((notice) => ({
        id: createDeliveryId(),
        record: notice.job.id,
        ...buildJobNotice(subscription, notice, now),
      })),
    ];
    const endedJobs = ended.map(({ job }) => job.id);
    const isStored = await this.#commit(id, before, { progress, now, deliveries, endedJobs }, known);
    return isStored && ended.length === JOBS_MAX;
  }

  async #readRecords(
    known: PolledSubscription,
    subscription: RecordSubscription,
    before: SubscriptionProgress,
  ): Promise<boolean> {
    const { reader } = this.#options;
    const { id, gone } = subscription;
    const progress = parseProgress(before.progress);
    const { signal } = this.#closing;
    const held = progress === null && !gone ? [] : readWatchedIds(progress, before.ids);
    const watched = gone && held === null ? await this.#listWatched(subscription) : held;
    if (signal.aborted) return false;
    if (watched !== null && 'problem' in watched) return this.#fail(known, before, watched);
    const read = await reader.readChanges(subscription, progress?.reader ?? null, signal);
    if (signal.aborted) return false;
    if ('problem' in read) return this.#fail(known, before, read);
    const vanished = gone ? await this.#findGone(known, subscription, watched ?? [], read) : [];
    if (!Array.isArray(vanished)) return this.#fail(known, before, vanished);
    const changes = keepLast([...read.changes, ...vanished]).filter(
      // The receiver was never sent any other record.
      ({ change, id }) => change !== 'left' || watched === null || includesId(watched, id),
    );
    const followable = [...(gone ? read.unsent : []), ...changes];
    const followed = watched && followIds(watched, followable);
    const isTooMany = followed !== null && followed.length > WATCHED_IDS_MAX;
    if (gone && isTooMany) return this.#fail(known, before, TOO_MANY);
    known.failures = 0;
    const ids = isTooMany ? null : followed;
    const next = printProgress(read.state, ids);
    const idChanges = changeIdParts(
      progress?.hasIdParts === true ? held : null,
      ids,
      followable.map((change) => change.id),
    );
    const isSame = next === before.progress && idChanges === undefined;
    const isKept = read.isRepeatable && this.#options.nowMs() < known.storedUntilMs;
    if (changes.length === 0 && (isSame || isKept)) {
      this.#outcomes.add(id, null);
      known.problem = null;
      return read.more;
    }
    const now = this.#options.clock();
    const deliveries = changes.map((change) => ({
      id: createDeliveryId(),
      record: String(change.id),
      ...buildDelivery(subscription, change, now),
    }));
    const isStored = await this.#commit(
      id,
      before,
      { progress: next, ids: idChanges, now, deliveries },
      known,
    );
    return isStored && read.more;
  }

  async #commit(
    id: string,
    { progressVersion }: SubscriptionProgress,
    reading: Reading,
    known: PolledSubscription,
  ): Promise<boolean> {
    const { store, owner, onDeliveries } = this.#options;
    if (!(await store.commitReading(owner, id, progressVersion, reading))) return false;
    this.#outcomes.drop(id);
    known.storedUntilMs = this.#options.nowMs() + STORED_MS;
    known.problem = null;
    if (reading.deliveries.length > 0) onDeliveries();
    return true;
  }

  /**
   * Ids of the records to watch from the beginning. They are listed before the first reading, which also finds records
   * that are created during the listing.
   */
  async #listWatched(subscription: RecordSubscription): Promise<number[] | ReadRefusal> {
    if (subscription.start === 'all') return [];
    const { reader } = this.#options;
    const found = await reader.listIds(subscription, WATCHED_IDS_MAX, this.#closing.signal);
    if ('problem' in found) return found;
    return found.ids.length > WATCHED_IDS_MAX ? TOO_MANY : found.ids;
  }

  /**
   * Checks the next part of the watched records, so that the cost does not depend on their number. Also checks records
   * that have left: a record that was deleted during the reading seems to have left, and is not watched any more.
   */
  async #findGone(
    known: PolledSubscription,
    subscription: RecordSubscription,
    watched: readonly number[],
    read: Pick<ReadResult, 'changes' | 'more'>,
  ): Promise<RecordChange[] | ReadRefusal> {
    const part = read.more ? [] : takeIdsAfter(watched, known.checkedTo, CHECKED_IDS_MAX);
    const left = read.changes.filter(({ change, id }) => change === 'left' && includesId(watched, id));
    const ids = [...new Set([...part, ...left.map(({ id }) => id)])];
    if (ids.length === 0) return [];
    const found = await this.#options.reader.findGone(subscription, ids, this.#closing.signal);
    if ('problem' in found) return found;
    if (!read.more) known.checkedTo = part.at(-1) ?? 0;
    return found.gone.map((id) => ({ change: 'gone', id, at: null, record: null }));
  }

  async #fail(
    known: PolledSubscription,
    { subscription }: SubscriptionProgress,
    refusal: ReadRefusal,
  ): Promise<false> {
    const { store, clock, onPaused } = this.#options;
    const { problem, summary = problem, isKeyOver } = refusal;
    if (isKeyOver) {
      const next = { state: 'paused', reason: problem, now: clock() } as const;
      if ((await store.setState(subscription.id, subscription.version, next)) === 'done')
        onPaused(subscription.name, problem);
      return false;
    }
    known.failures++;
    this.#outcomes.add(subscription.id, problem);
    if (known.problem === problem) return false;
    known.problem = problem;
    this.#options.onProblem(subscription.name, summary);
    // Writes at once, so that operators see a new problem.
    await this.#outcomes.write();
    return false;
  }
}

const TOO_MANY: ReadRefusal = {
  problem: `\`gone\` watches at most ${WATCHED_IDS_MAX} records, and more match: narrow the domain, or turn \`gone\` off.`,
  isKeyOver: false,
};

const NO_NOTICES: ReadRefusal = {
  problem: 'No notices are given before a key ends: set `keys.expiryNoticeDays` to more than 0.',
  isKeyOver: false,
};

/** The source of a subscription. Readings of the same source wait for each other. */
function nameSource(subscription: Subscription): string {
  // No instance has an empty name.
  return 'events' in subscription ? '' : subscription.instance;
}

function isEqual(one: Subscription, other: Subscription): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
