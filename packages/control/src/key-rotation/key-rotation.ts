/**
 * Key rotation: finds out when the API keys of stored instances expire, warns in time, and replaces those that it may
 * replace. Checks the stored data of all keys about once a minute. Calls Odoo only if a step is due.
 */
import type { InstanceKeyView } from '@erp-proxy/contract';
import type { LeaseStore } from '@erp-proxy/stores/ports';
import type { Instances } from '../instances/instances.ts';
import type { InstanceRecord } from '../instances/views.ts';
import { checkKey, DAY_MS } from './expiry.ts';
import { findInstanceWith } from './find-sharer.ts';
import {
  type DescribeKeyRotation,
  isStepDue,
  type RotationDeps,
  type StepResult,
  takeStep,
} from './rotation-steps.ts';

export type { DescribeKeyRotation } from './rotation-steps.ts';

/** An event of the key of an instance. */
export type KeyRotationEvent =
  /** The key expires within two weeks, or has expired. Repeated once a day. */
  | { kind: 'expiring'; instance: string; expiresAt: number }
  /** The key is to be replaced in time, but its expiry is not known. Repeated once a day. */
  | { kind: 'unknown'; instance: string }
  /** A new key is in use. */
  | { kind: 'rotated'; instance: string; expiresAt: number | null }
  /** The old key no longer works. */
  | { kind: 'revoked'; instance: string }
  | { kind: 'failed'; instance: string; failure: string };

export interface KeyRotationOptions extends Omit<RotationDeps, 'keys' | 'findSharer' | 'pauseMs'> {
  instances: Pick<Instances, 'openKey' | 'changeKey' | 'get' | 'list'>;
  leases: LeaseStore;
  /** Identifies this process among the replicas. */
  owner: string;
  onEvent: (event: KeyRotationEvent) => void;
  /** Called with errors of the store and unexpected errors. */
  onError: (error: unknown) => void;
  /**
   * Whether the reason of a failed rotation is stored with the instance. False for a command: it tries only once, and
   * its own egress settings decide whether it can reach Odoo.
   */
  storesFailures: boolean;
  pauseMs?: number;
}

/** The key of an instance at the last check. */
export interface KeyStatus extends Pick<InstanceKeyView, 'state' | 'failure'> {
  instance: string;
  /** Time at which the key expires; null: never, or not known. */
  expiresAt: number | null;
}

export interface KeyRotation {
  /** Checks all keys now, and then about once a minute. */
  start(): void;
  /** Checks all keys once. Resolves when every due step has succeeded or failed. */
  checkAll(): Promise<void>;
  /**
   * Replaces the stored key with a new one. The old key is revoked a few minutes later. `describeAction` creates the
   * audit records with the actor. Rejects with {@link KeyRotationError}.
   */
  rotate(instance: string, describeAction?: DescribeKeyRotation): Promise<void>;
  /** The states of all keys at the last check. */
  states(): KeyStatus[];
  /** Warning for `/readyz`, without names; null if no key has expired or will expire soon. */
  warning(): string | null;
  /** Resolves when the running steps have ended, which may wait for Odoo. */
  close(): Promise<void>;
}

/** A key was not replaced. The message tells the operator the reason. */
export class KeyRotationError extends Error {
  override readonly name = 'KeyRotationError';
}

/**
 * Pause before the old key is revoked. A call lasts at most 300 seconds, and replicas learn of a change within one
 * second.
 */
export const PAUSE_MS = 310_000;
const CHECK_INTERVAL_MS = 60_000;
/** Number of instances that are checked concurrently: a server that hangs must not delay all others. */
const PAGE_SIZE = 20;
const LEASE_MS = 120_000;
const RETRY_AFTER_MS = 3_600_000;

/** Results after which no further step is taken. */
export const FINAL_RESULTS: ReadonlySet<StepResult> = new Set(['nothing', 'unanswered', 'conflict']);

/** A rotation that an operator requests. Its audit records name the operator. */
type RotationRequest = Pick<RotationDeps, 'describeAction'>;

interface RunResult {
  last: StepResult;
  /** Id of the instance of the last step; null if there was no step. */
  id: string | null;
  /** True: a new key was requested, and none is in use or pending yet. */
  isRequestOpen: boolean;
}

const NO_KEY =
  'This instance has no key of its own: each person connects one. They give a new key on the page where they connected.';
const MISSING = 'There is no instance of this name.';
const BUSY = 'Another step for this key is running: try again in a minute.';
const CONFLICT =
  'The instance was changed meanwhile, and its key was not replaced: look at it, and try again.';
const TOO_SOON =
  'The key was replaced a few minutes ago, and the one before it is still kept for calls that began with it: try again in six minutes.';

export function createKeyRotation(options: KeyRotationOptions): KeyRotation {
  const { instances, leases, owner, clock, onEvent, onError, storesFailures } = options;
  const deps: RotationDeps = {
    ...options,
    keys: instances,
    findSharer: async (state) => {
      const name = await findInstanceWith(state, instances, state.record.name);
      return name && `The instance "${name}"`;
    },
    pauseMs: options.pauseMs ?? PAUSE_MS,
  };
  /** The state of each key, by the name of its instance. */
  const states = new Map<string, KeyStatus>();
  // The following maps are by id: an instance that is removed and added again under the same name is another one.
  /** Until `at`, no step is taken for an instance that still has this version. */
  const retries = new Map<string, { version: number; at: number }>();
  const warnedAt = new Map<string, number>();
  const running = new Map<string, Promise<unknown>>();
  let checking: Promise<void> | null = null;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  async function checkEach(): Promise<void> {
    const names = new Set<string>();
    const ids = new Set<string>();
    for (let after: string | null = null; ; ) {
      const page: InstanceRecord[] = await instances.list({ after, limit: PAGE_SIZE });
      await Promise.all(page.map((record) => check(record).catch(onError)));
      for (const { name, id, identity } of page) {
        if (identity === 'person') continue;
        names.add(name);
        ids.add(id);
      }
      after = page.at(-1)?.name ?? null;
      if (page.length < PAGE_SIZE || isClosed) break;
    }
    if (isClosed) return;
    keepOnly(states, names);
    keepOnly(retries, ids);
    keepOnly(warnedAt, ids);
  }

  async function check(record: InstanceRecord): Promise<void> {
    if (record.identity === 'person') return;
    updateState(record);
    const { id, name, version } = record;
    const retry = retries.get(id);
    const isWaiting = retry !== undefined && retry.version === version && retry.at > clock();
    if (!isClosed && !isWaiting && isStepDue(record, clock())) await run(name, null);
    warn(record);
  }

  function updateState({ name, key }: InstanceRecord): void {
    const { expiresAt, failure } = key;
    states.set(name, { instance: name, state: checkKey(key, clock()), expiresAt, failure });
  }

  function warn({ id, name, rotateKey }: InstanceRecord): void {
    const warning = chooseWarning(states.get(name), rotateKey);
    if (warning === null || clock() - (warnedAt.get(id) ?? -Infinity) < DAY_MS) return;
    warnedAt.set(id, clock());
    onEvent(warning);
  }

  /** Runs the due steps. Undefined if steps for this instance are running, here or in another process. */
  async function run(name: string, request: RotationRequest | null): Promise<RunResult | undefined> {
    if (running.has(name)) return undefined;
    const result = runUnderLease(name, request);
    running.set(name, result);
    return result.finally(() => running.delete(name));
  }

  async function runUnderLease(
    name: string,
    request: RotationRequest | null,
  ): Promise<RunResult | undefined> {
    // The name of the lease is shared with replicas of earlier releases.
    const lease = `key-care:${name}`;
    const acquire = () => leases.acquire(lease, owner, LEASE_MS);
    if (!(await acquire())) return undefined;
    try {
      const result = await takeSteps(name, request, acquire);
      await finish(name, result);
      return result;
    } finally {
      await leases.release(lease, owner);
    }
  }

  /** Takes steps until none is due. */
  async function takeSteps(
    name: string,
    request: RotationRequest | null,
    renewLease: () => unknown,
  ): Promise<RunResult> {
    let isRequestOpen = request !== null;
    let id: string | null = null;
    for (;;) {
      const state = isClosed ? null : await instances.openKey(name);
      if (state === null) return { last: 'nothing', id, isRequestOpen };
      // A request applies to the instance that had the name when the request was made.
      if (id !== null && state.record.id !== id) return { last: 'conflict', id, isRequestOpen };
      id = state.record.id;
      const last = await takeStep(state, isRequestOpen, { ...deps, ...request });
      if (typeof last === 'object' || FINAL_RESULTS.has(last)) return { last, id, isRequestOpen };
      if (last === 'made' || last === 'switched') isRequestOpen = false;
      if (last === 'switched')
        onEvent({ kind: 'rotated', instance: name, expiresAt: state.pending?.expiresAt ?? null });
      if (last === 'revoked') onEvent({ kind: 'revoked', instance: name });
      await renewLease();
    }
  }

  /** Stores a failure where operators see it, and sets the time of the next attempt. */
  async function finish(name: string, { last, id }: RunResult): Promise<void> {
    let record = await instances.get(name);
    if (typeof last === 'object') {
      const { failure } = last;
      onEvent({ kind: 'failed', instance: name, failure });
      if (storesFailures && record?.id === id && record.key.failure !== failure) {
        await instances.changeKey(record, { failure });
        record = await instances.get(name);
      }
    }
    if (record === null || record.id !== id) return;
    updateState(record);
    // Jitter: instances that were added together should not always call Odoo at the same time.
    const delayMs = chooseDelay(record, last) * (0.9 + Math.random() / 5);
    retries.set(id, { version: record.version, at: clock() + delayMs });
  }

  function checkAll(): Promise<void> {
    checking ??= checkEach().finally(() => {
      checking = null;
    });
    return checking;
  }

  function schedule(delayMs: number): void {
    timer = setTimeout(async () => {
      await checkAll().catch(onError);
      if (!isClosed) schedule(CHECK_INTERVAL_MS * (0.75 + Math.random() / 2));
    }, delayMs).unref();
  }

  return {
    start() {
      schedule(0);
    },
    checkAll,
    async rotate(name, describeAction = deps.describeAction) {
      const result = await run(name, { describeAction });
      if (result === undefined) throw new KeyRotationError(BUSY);
      const { last, isRequestOpen } = result;
      const record = await instances.get(name);
      if (record === null) throw new KeyRotationError(MISSING);
      if (record.identity === 'person') throw new KeyRotationError(NO_KEY);
      if (typeof last === 'object') throw new KeyRotationError(last.failure);
      if (last === 'conflict') throw new KeyRotationError(CONFLICT);
      if (isRequestOpen) throw new KeyRotationError(TOO_SOON);
    },
    states: () => [...states.values()],
    warning() {
      const count = (state: KeyStatus['state']) =>
        [...states.values()].filter((status) => status.state === state).length;
      const [expiring, expired] = [count('expiring'), count('expired')];
      if (expiring + expired === 0) return null;
      return `keys of instances at Odoo: ${expired} expired, ${expiring} to expire within 14 days; see the list of instances`;
    },
    async close() {
      isClosed = true;
      clearTimeout(timer);
      await Promise.allSettled([checking, ...running.values()]);
    },
  };
}

function keepOnly(map: Map<string, unknown>, names: ReadonlySet<string>): void {
  for (const name of map.keys()) if (!names.has(name)) map.delete(name);
}

function chooseWarning(status: KeyStatus | undefined, isToRotate: boolean): KeyRotationEvent | null {
  if (status === undefined) return null;
  const { instance, state, expiresAt } = status;
  if (state === 'unknown') return isToRotate ? { kind: 'unknown', instance } : null;
  return state === 'ok' || expiresAt === null ? null : { kind: 'expiring', instance, expiresAt };
}

/** Milliseconds until the next attempt. */
function chooseDelay({ key }: InstanceRecord, last: StepResult): number {
  if (typeof last === 'object' || last === 'unanswered') return RETRY_AFTER_MS;
  // After a conflict, or while an old key waits to be revoked, the next check tries again.
  if (last === 'conflict' || key.pendingStep !== null) return 0;
  return key.isExpiryKnown ? RETRY_AFTER_MS : DAY_MS;
}
