/**
 * Looks after the API keys of stored instances: learns when they end, says so in time, and replaces those that it may.
 * Looks at all of them about once a minute, from the rows of the store; Odoo is asked only where something is to be done.
 */
import type { InstanceKeyView } from '@erp-proxy/contract';
import type { Instances } from '../instances/instances.ts';
import type { InstanceRecord } from '../instances/views.ts';
import type { LeaseStore } from '../stores/ports.ts';
import { DAY_MS, judgeKey } from './expiry.ts';
import { type DescribeKeyRotationAct, isToDo, type RotationDeps, type Step, takeStep } from './rotate.ts';

export type { DescribeKeyRotationAct } from './rotate.ts';

/** What happened to the key of an instance. */
export type KeyRotationEvent =
  /** Once a day, from two weeks before the end; after the end too. */
  | { kind: 'expiring'; instance: string; expiresAt: number }
  /** Once a day: a key that is to be replaced in time, and nobody knows when that is. */
  | { kind: 'unknown'; instance: string }
  /** A new key is in use. */
  | { kind: 'rotated'; instance: string; expiresAt: number | null }
  /** The old key opens nothing any more. */
  | { kind: 'revoked'; instance: string }
  | { kind: 'failed'; instance: string; failure: string };

export interface KeyRotationOptions extends Omit<RotationDeps, 'instances' | 'pauseMs'> {
  instances: Pick<Instances, 'openKey' | 'changeKey' | 'get' | 'list'>;
  leases: LeaseStore;
  /** This process among the replicas. */
  owner: string;
  onEvent: (event: KeyRotationEvent) => void;
  /** Faults of our own and of the store. */
  onError: (error: unknown) => void;
  /**
   * Whether others are to see why a key was not replaced. Not what a command meets, which has its own way to Odoo and
   * asks but once.
   */
  keepsFailures: boolean;
  pauseMs?: number;
}

/** The key of an instance as it was last seen. */
export interface KeyStatus extends Pick<InstanceKeyView, 'state' | 'failure'> {
  instance: string;
  /** Null: never, or nobody knows. */
  expiresAt: number | null;
}

export interface KeyRotation {
  /** Looks now and from then on. */
  start(): void;
  /** Looks once; resolves when everything is done that could be. */
  look(): Promise<void>;
  /**
   * Puts a new key in place of the stored one; the old one goes a few minutes later. `describeAct`: in whose name. Rejects
   * with {@link KeyRotationError}.
   */
  rotate(instance: string, describeAct?: DescribeKeyRotationAct): Promise<void>;
  /** From memory. */
  states(): KeyStatus[];
  /** What `/readyz` tells of them, without names; null where all is well. */
  warning(): string | null;
  /** Ends with the step that runs, which may wait for Odoo. */
  close(): Promise<void>;
}

/** Why a key was not replaced, for the operator. */
export class KeyRotationError extends Error {
  override readonly name = 'KeyRotationError';
}

/** Calls last 300 seconds at most, and replicas hear of a change within one. */
const PAUSE_MS = 310_000;
const LOOK_EVERY_MS = 60_000;
/** Looked after at once: one server that hangs must not keep all others waiting. */
const PAGE_SIZE = 20;
const LEASE_MS = 120_000;
const RETRY_AFTER_MS = 3_600_000;

/** Steps after which there is no next one. */
const ENDS: ReadonlySet<Step> = new Set(['nothing', 'unanswered', 'overtaken']);

/** By an operator, in whose name the acts of the rotation stand. */
type Asked = Pick<RotationDeps, 'describeAct'>;

interface Outcome {
  last: Step;
  /** A new key was asked for, and is neither in use nor on its way. */
  isStillAsked: boolean;
}

const MISSING = 'There is no instance of this name.';
const BUSY = 'This key is being looked after just now: try again in a minute.';
const OVERTAKEN =
  'The instance was changed meanwhile, and its key was not replaced: look at it, and try again.';
const TOO_SOON =
  'The key was replaced a few minutes ago, and the one before it is still kept for calls that began with it: try again in six minutes.';

export function createKeyRotation(options: KeyRotationOptions): KeyRotation {
  const { instances, leases, owner, clock, onEvent, onError, keepsFailures } = options;
  const deps: RotationDeps = { ...options, pauseMs: options.pauseMs ?? PAUSE_MS };
  const states = new Map<string, KeyStatus>();
  /** Until when nothing is to be asked for an instance, as long as it has this version. */
  const waits = new Map<string, { version: number; until: number }>();
  const warnedAt = new Map<string, number>();
  const tending = new Map<string, Promise<unknown>>();
  let looking: Promise<void> | null = null;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  async function lookAtAll(): Promise<void> {
    const seen = new Set<string>();
    for (let after: string | null = null; ; ) {
      const page: InstanceRecord[] = await instances.list({ after, limit: PAGE_SIZE });
      await Promise.all(page.map((record) => lookAt(record).catch(onError)));
      for (const { name } of page) seen.add(name);
      after = page.at(-1)?.name ?? null;
      if (page.length < PAGE_SIZE || isClosed) break;
    }
    if (isClosed) return;
    for (const known of [states, waits, warnedAt])
      for (const name of known.keys()) if (!seen.has(name)) known.delete(name);
  }

  async function lookAt(record: InstanceRecord): Promise<void> {
    note(record);
    const { name, version, key } = record;
    const wait = waits.get(name);
    const isResting = wait !== undefined && wait.version === version && wait.until > clock();
    if (!isClosed && !isResting && isToDo(record, clock())) await tend(name, null);
    warn(name, key.rotate);
  }

  function note({ name, key }: InstanceRecord): void {
    const { expiresAt, failure } = key;
    states.set(name, { instance: name, state: judgeKey(key, clock()), expiresAt, failure });
  }

  function warn(instance: string, isToRotate: boolean): void {
    const warning = chooseWarning(states.get(instance), isToRotate);
    if (warning === null || clock() - (warnedAt.get(instance) ?? -Infinity) < DAY_MS) return;
    warnedAt.set(instance, clock());
    onEvent(warning);
  }

  /** Undefined: somebody else is at it, here or in another process. */
  async function tend(name: string, asked: Asked | null): Promise<Outcome | undefined> {
    if (tending.has(name)) return undefined;
    const outcome = tendUnderLease(name, asked);
    tending.set(name, outcome);
    return outcome.finally(() => tending.delete(name));
  }

  async function tendUnderLease(name: string, asked: Asked | null): Promise<Outcome | undefined> {
    const lease = `key-care:${name}`;
    const acquire = () => leases.acquire(lease, owner, LEASE_MS);
    if (!(await acquire())) return undefined;
    try {
      const outcome = await takeSteps(name, asked, acquire);
      await settle(name, outcome.last);
      return outcome;
    } finally {
      await leases.release(lease, owner);
    }
  }

  /** Takes steps for as long as there are any. */
  async function takeSteps(name: string, asked: Asked | null, renewLease: () => unknown): Promise<Outcome> {
    let isStillAsked = asked !== null;
    for (;;) {
      const state = isClosed ? null : await instances.openKey(name);
      if (state === null) return { last: 'nothing', isStillAsked };
      const last = await takeStep(state, isStillAsked, { ...deps, ...asked });
      if (typeof last === 'object' || ENDS.has(last)) return { last, isStillAsked };
      if (last === 'made' || last === 'switched') isStillAsked = false;
      if (last === 'switched')
        onEvent({ kind: 'rotated', instance: name, expiresAt: state.pending?.expiresAt ?? null });
      if (last === 'revoked') onEvent({ kind: 'revoked', instance: name });
      await renewLease();
    }
  }

  /** Keeps what came of it where operators look, and lets the instance rest. */
  async function settle(name: string, last: Step): Promise<void> {
    let record = await instances.get(name);
    if (typeof last === 'object') {
      const { failure } = last;
      onEvent({ kind: 'failed', instance: name, failure });
      if (keepsFailures && record !== null && record.key.failure !== failure) {
        await instances.changeKey(name, record.version, { failure });
        record = await instances.get(name);
      }
    }
    if (record === null) return;
    note(record);
    // Spread, so that instances that were added together do not ask together for ever.
    const restMs = chooseRest(record, last) * (0.9 + Math.random() / 5);
    waits.set(name, { version: record.version, until: clock() + restMs });
  }

  function look(): Promise<void> {
    looking ??= lookAtAll().finally(() => {
      looking = null;
    });
    return looking;
  }

  function schedule(delayMs: number): void {
    timer = setTimeout(async () => {
      await look().catch(onError);
      if (!isClosed) schedule(LOOK_EVERY_MS * (0.75 + Math.random() / 2));
    }, delayMs).unref();
  }

  return {
    start() {
      schedule(0);
    },
    look,
    async rotate(name, describeAct = deps.describeAct) {
      const outcome = await tend(name, { describeAct });
      if (outcome === undefined) throw new KeyRotationError(BUSY);
      const { last, isStillAsked } = outcome;
      if ((await instances.get(name)) === null) throw new KeyRotationError(MISSING);
      if (typeof last === 'object') throw new KeyRotationError(last.failure);
      if (last === 'overtaken') throw new KeyRotationError(OVERTAKEN);
      if (isStillAsked) throw new KeyRotationError(TOO_SOON);
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
      await Promise.allSettled([looking, ...tending.values()]);
    },
  };
}

function chooseWarning(status: KeyStatus | undefined, isToRotate: boolean): KeyRotationEvent | null {
  if (status === undefined) return null;
  const { instance, state, expiresAt } = status;
  if (state === 'unknown') return isToRotate ? { kind: 'unknown', instance } : null;
  return state === 'ok' || expiresAt === null ? null : { kind: 'expiring', instance, expiresAt };
}

/** Until there may be something to do again. */
function chooseRest({ key }: InstanceRecord, last: Step): number {
  if (typeof last === 'object' || last === 'unanswered') return RETRY_AFTER_MS;
  // Overtaken, or a key that waits for its revocation.
  if (last === 'overtaken' || key.pendingStep !== null) return 0;
  return key.isExpiryKnown ? RETRY_AFTER_MS : DAY_MS;
}
