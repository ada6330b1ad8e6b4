/**
 * Sends the deliveries that are due, and records their attempts. A delivery is claimed in the store before it is sent:
 * if this process dies, no delivery is lost, and no other process sends it until the claim has ended.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { VaultError } from '@erp-proxy/control/instances';
import type { ClaimedDelivery, DeliveryBatch, SubscriptionStore } from '@erp-proxy/stores/ports';
import { type Attempt, checkAttempts } from './retry-schedule.ts';
import { type Body, readBody } from './row.ts';
import type { SendDelivery } from './sender.ts';
import type { HeldShards } from './shards.ts';

/** Reason why the key of the subscription may not read the content of the delivery; null: it may. */
export type CheckDelivery = (
  subscription: Body,
  delivery: ClaimedDelivery,
  signal: AbortSignal,
) => Promise<string | null>;

export interface OutboxOptions {
  store: SubscriptionStore;
  /** Identifies this process. */
  owner: string;
  shards: HeldShards;
  check: CheckDelivery;
  send: SendDelivery;
  /** Opens the secrets that are valid for signatures at `now`. Throws a `VaultError`. */
  openSecrets: (row: { id: string; name: string; body: string }, now: number) => string[];
  /** Milliseconds since 1970. */
  clock: () => number;
  /** Monotonic clock in milliseconds. */
  nowMs: () => number;
  random: () => number;
  /** Time after which a claim ends by itself. Longer than an attempt takes. */
  claimMs: number;
  /** Duration of one second of the delays between attempts. Tests set a shorter one. */
  secondMs: number;
  /** Time after which the receiver of a delivery counts as slow. */
  slowMs: number;
  /** Time after the claim within which an attempt may begin. */
  beginsWithinMs: number;
  onAttempt: (subscription: string, attempt: Attempt, result: DeliveryOutcome) => void;
  onDisabled: (subscription: string, reason: string) => void;
  onError: (error: unknown) => void;
}

/** `retried`: the delivery is tried again later. */
export type DeliveryOutcome = 'delivered' | 'retried' | 'failed';

/** Maximum number of subscriptions whose deliveries are sent at the same time, to receivers that work. */
const WORKING_BATCHES_MAX = 64;
/**
 * The same for receivers whose last attempt failed, and that are slow to answer this one: it may take long to fail.
 * Subscriptions with such receivers must not keep the others waiting.
 */
const FAILING_BATCHES_MAX = 32;
/** Receivers that have become slow can be more than these. Maximum of all. */
const BATCHES_MAX = 256;
const DELIVERIES_OF_BATCH_MAX = 4;
/** Maximum time between two queries of due deliveries. The store also notifies of changes. */
const CHECK_MS_MAX = 30_000;
const ERROR_PAUSE_MS = 1000;

/** Deliveries of one subscription that are being sent. */
interface Batch {
  /** True: the last attempt failed, or this one is slow. */
  isFailing: boolean;
  done: Promise<void>;
}

const UNSENT = { isTaken: false, isGone: false, status: null, retryAfterSeconds: null, durationMs: 0 };

export class Outbox {
  readonly #options: OutboxOptions;
  readonly #batches = new Map<string, Batch>();
  readonly #closing = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #round: Promise<void> | null = null;
  #isWanted = false;
  #isClosed = false;

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  /** Number of subscriptions whose deliveries are being sent. */
  get sending(): number {
    return this.#batches.size;
  }

  /** Call this when a delivery may have become due. */
  wake(): void {
    this.#isWanted = true;
    if (this.#isClosed || this.#round !== null) return;
    clearTimeout(this.#timer);
    this.#round = this.#runRounds().finally(() => {
      this.#round = null;
    });
  }

  /**
   * Waits up to `graceMs` for requests that are being sent, and then cancels them. Their deliveries are sent again
   * after their claims end.
   */
  async close(graceMs: number): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    const timer = setTimeout(() => this.#closing.abort(), graceMs);
    await this.#round;
    await Promise.all([...this.#batches.values()].map(({ done }) => done));
    clearTimeout(timer);
  }

  async #runRounds(): Promise<void> {
    let pauseMs = CHECK_MS_MAX;
    while (this.#isWanted && !this.#isClosed && this.#options.shards.holdsAny) {
      this.#isWanted = false;
      try {
        pauseMs = await this.#claimDue();
      } catch (error) {
        this.#options.onError(error);
        pauseMs = ERROR_PAUSE_MS;
      }
    }
    if (this.#isClosed || !this.#options.shards.holdsAny) return;
    this.#timer = setTimeout(() => this.wake(), pauseMs).unref();
  }

  /** Begins to send due deliveries, up to the maximum. Returns the milliseconds until the next query. */
  async #claimDue(): Promise<number> {
    const { clock } = this.#options;
    for (const receivers of ['working', 'failing'] as const) {
      const failing = [...this.#batches.values()].filter(({ isFailing }) => isFailing).length;
      const room =
        receivers === 'working'
          ? WORKING_BATCHES_MAX - (this.#batches.size - failing)
          : FAILING_BATCHES_MAX - failing;
      const subscriptionsMax = Math.min(room, BATCHES_MAX - this.#batches.size);
      if (subscriptionsMax <= 0 || this.#isClosed) continue;
      const dueAt = await this.#findNextDue();
      if (dueAt === null || dueAt > clock()) break;
      await this.#claim(receivers, subscriptionsMax);
    }
    const dueAt = await this.#findNextDue();
    if (dueAt === null) return CHECK_MS_MAX;
    // At the maximum, the end of a batch begins the next query.
    const isFull = this.#batches.size >= FAILING_BATCHES_MAX;
    const leastMs = isFull ? ERROR_PAUSE_MS : 1;
    return Math.min(Math.max(dueAt - clock(), leastMs), CHECK_MS_MAX);
  }

  /** Leaves out subscriptions whose deliveries are being sent: at the end of their batch the next ones are queried. */
  async #findNextDue(): Promise<number | null> {
    const { store, owner } = this.#options;
    return store.findNextDue(owner, [...this.#batches.keys()]);
  }

  async #claim(receivers: 'working' | 'failing', subscriptionsMax: number): Promise<void> {
    const { store, owner, clock, nowMs, claimMs, beginsWithinMs, slowMs, onError } = this.#options;
    const now = clock();
    const startedMs = nowMs();
    const claim = randomUUID();
    const batches = await store.claimDeliveries({
      owner,
      now,
      endsAt: now + claimMs,
      claim,
      receivers,
      subscriptionsMax,
      deliveriesMax: DELIVERIES_OF_BATCH_MAX,
      except: [...this.#batches.keys()],
    });
    for (const batch of batches) {
      if (batch.deliveries.length === 0) continue;
      const { id } = batch.subscription;
      const slowTimer = setTimeout(() => {
        sending.isFailing = true;
        // Makes room for another subscription.
        this.wake();
      }, slowMs);
      const done = this.#sendBatch(batch, claim, startedMs + beginsWithinMs)
        .catch(onError)
        .finally(() => {
          clearTimeout(slowTimer);
          this.#batches.delete(id);
          this.wake();
        });
      const sending: Batch = { isFailing: receivers === 'failing', done };
      this.#batches.set(id, sending);
    }
    // More deliveries may be due than were claimed.
    if (batches.length === subscriptionsMax) this.#isWanted = true;
  }

  async #sendBatch(
    { subscription, deliveries }: DeliveryBatch,
    claim: string,
    beginsUntilMs: number,
  ): Promise<void> {
    const { check, send, openSecrets, clock, nowMs, random, onAttempt, onDisabled } = this.#options;
    const { signal } = this.#closing;
    // Until then the claim keeps other processes from these deliveries, also if one of them gets the shard.
    const maySend = () => nowMs() < beginsUntilMs && !signal.aborted;
    if (!maySend()) return;
    const body = readBody(subscription);
    const { url } = body;
    let secrets: readonly string[] = [];
    let unsigned: string | null = null;
    try {
      secrets = openSecrets(subscription, clock());
    } catch (error) {
      if (!(error instanceof VaultError)) throw error;
      unsigned = `The secret cannot be opened: ${error.message}`;
    }
    const sent = await Promise.all(
      deliveries.map(async (delivery) => {
        const failure = unsigned ?? (await check(body, delivery, signal));
        // A process that stops refuses calls on Odoo. That says nothing about the delivery.
        if (failure !== null && this.#isClosed) return null;
        return failure === null
          ? send({ url, secrets, delivery, signal, maySend })
          : { ...UNSENT, delivery, failure };
      }),
    );
    const attempts = sent.filter((attempt) => attempt !== null);
    if (attempts.length === 0) return;
    const outcome = checkAttempts(subscription, attempts, {
      now: clock(),
      random,
      secondMs: this.#options.secondMs,
    });
    await this.#record(subscription.id, claim, outcome);
    for (const [index, attempt] of attempts.entries()) {
      const state = outcome.results[index]?.state;
      onAttempt(subscription.name, attempt, state === 'waiting' ? 'retried' : (state ?? 'retried'));
    }
    if (outcome.disables !== null) onDisabled(subscription.name, outcome.disables);
  }

  /**
   * Retries for as long as the claim may hold. Deliveries whose attempts were not recorded are sent again, with the
   * same id.
   */
  async #record(...given: Parameters<SubscriptionStore['recordAttempts']>): Promise<void> {
    const { store, nowMs, claimMs, onError } = this.#options;
    const untilMs = nowMs() + claimMs;
    for (;;) {
      try {
        return await store.recordAttempts(...given);
      } catch (error) {
        if (this.#closing.signal.aborted || nowMs() > untilMs) throw error;
        onError(error);
        await sleep(ERROR_PAUSE_MS);
      }
    }
  }
}
