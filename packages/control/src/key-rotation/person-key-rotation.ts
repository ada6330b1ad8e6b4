/**
 * Replaces the keys of persons before they expire, by the steps by which the keys of instances are replaced. Reads the
 * stored data of all connections about once an hour, in one process. Calls Odoo only for keys that are due, on
 * instances with `rotate_key`. A key whose expiry is not known is left to its person.
 */
import { atMost } from '@erp-proxy/async/tasks';
import type { AuditBatch, LeaseStore } from '@erp-proxy/stores/ports';
import { LRUCache } from 'lru-cache';
import type { ConnectionRecord, Connections } from '../connections/index.ts';
import type { Instances } from '../instances/instances.ts';
import { type InstanceRecord, KeyHolder, type KeyState } from '../instances/views.ts';
import { DAY_MS, isRotationDue } from './expiry.ts';
import { type ConnectionSearch, createConnectionSearch, findInstanceWith } from './find-sharer.ts';
import { FINAL_RESULTS, PAUSE_MS } from './key-rotation.ts';
import { type KeyRotationAction, type RotationDeps, type StepResult, takeStep } from './rotation-steps.ts';

/** An event of the key of a person. */
export type PersonKeyEvent = { instance: string; person: string } & (
  | { kind: 'rotated'; expiresAt: number | null }
  | { kind: 'revoked' }
  | { kind: 'failed'; failure: string }
);

export interface PersonKeyRotationOptions extends Pick<RotationDeps, 'ask' | 'clock'> {
  connections: Pick<Connections, 'list' | 'openKeys' | 'changeKeys'>;
  instances: Pick<Instances, 'find' | 'get' | 'list' | 'openKey'>;
  leases: LeaseStore;
  /** Identifies this process among the replicas. */
  owner: string;
  describeAction: (connection: ConnectionRecord, action: KeyRotationAction) => AuditBatch;
  onEvent: (event: PersonKeyEvent) => void;
  /** Called with errors of the store and unexpected errors. */
  onError: (error: unknown) => void;
  pauseMs?: number;
}

export interface PersonKeyRotation {
  /** Checks all connections soon, and then about once an hour. */
  start(): void;
  /** Checks all connections once. Resolves when every due step has succeeded or failed. */
  checkAll(): Promise<void>;
  /** Resolves when the running steps have ended, which may wait for Odoo. */
  close(): Promise<void>;
}

/** What one check of all connections has read. */
interface Pass {
  readonly instances: Map<string, InstanceRecord | null>;
  readonly search: ConnectionSearch;
}

const FIRST_CHECK_MS = 60_000;
const CHECK_INTERVAL_MS = 3_600_000;
const LEASE = 'keys of persons';
const LEASE_MS = 120_000;
const PAGE_SIZE = 100;
/** Connections whose steps run at a time: a server that hangs must not delay all others. */
const CONCURRENT = 4;
/** Maximum number of connections whose last failure is remembered. Odoo is asked once a day for them. */
const FAILED_MAX = 10_000;

export function createPersonKeyRotation(options: PersonKeyRotationOptions): PersonKeyRotation {
  const { connections, instances, leases, owner, clock, onEvent, onError } = options;
  const pauseMs = options.pauseMs ?? PAUSE_MS;
  /** When a key may be tried again, by its connection. */
  const retryAt = new LRUCache<string, number>(atMost(FAILED_MAX));
  let isPending = false;
  let isClosed = false;
  let checking: Promise<void> | null = null;
  let timer: NodeJS.Timeout | undefined;

  async function checkEach(): Promise<void> {
    const acquire = () => leases.acquire(LEASE, owner, LEASE_MS);
    if (!(await acquire())) return;
    try {
      isPending = false;
      const pass: Pass = { instances: new Map(), search: createConnectionSearch(connections) };
      for (let after: ConnectionRecord | null = null; !isClosed; ) {
        const page: ConnectionRecord[] = await connections.list({ after, limit: PAGE_SIZE });
        const due = page.filter(isDue);
        while (due.length > 0 && !isClosed) {
          await Promise.all(due.splice(0, CONCURRENT).map((it) => check(it, pass).catch(onError)));
          if (!(await acquire())) return;
        }
        after = page.at(-1) ?? null;
        if (page.length < PAGE_SIZE) break;
      }
    } finally {
      await leases.release(LEASE, owner);
    }
  }

  /** By the stored row alone. */
  function isDue({ pendingStep, keyExpiresAt, ...connection }: ConnectionRecord): boolean {
    const now = clock();
    if ((retryAt.get(nameConnection(connection)) ?? 0) > now) return false;
    isPending ||= pendingStep !== null;
    return pendingStep !== null || isRotationDue({ expiresAt: keyExpiresAt, createdAt: null }, now);
  }

  async function check(connection: ConnectionRecord, pass: Pass): Promise<void> {
    const { instance: name } = connection;
    if (!pass.instances.has(name)) pass.instances.set(name, await instances.get(name));
    const instance = pass.instances.get(name) ?? null;
    const isOn = instance?.identity === 'person' && (instance.rotateKey || connection.pendingStep !== null);
    // The key must not go to a server for which it was not given.
    if (!isOn || (await instances.find(name))?.serverId !== connection.serverId) return;
    const { first, last } = await takeSteps(connection, instance, pass);
    if (first === 'nothing' && connection.pendingStep === null && connection.keyExpiresAt !== null) {
      // Odoo has told that the lifetime of the key is a short one, of which more than a third is left.
      const leftMs = connection.keyExpiresAt - clock();
      retryAt.set(nameConnection(connection), clock() + Math.min(DAY_MS, leftMs / 10));
    }
    if (typeof last !== 'object') return;
    onEvent({ kind: 'failed', instance: name, person: connection.person, failure: last.failure });
    const present = await connections.openKeys(connection);
    const delayMs = present?.pending == null ? DAY_MS : CHECK_INTERVAL_MS;
    retryAt.set(nameConnection(connection), clock() + delayMs * (0.9 + Math.random() / 5));
    if (present !== null && present.record.keyFailure !== last.failure)
      await connections.changeKeys(present.record, { failure: last.failure });
  }

  /** Takes steps until none is due. Returns the results of the first one and the last one. */
  async function takeSteps(
    connection: ConnectionRecord,
    instance: InstanceRecord,
    pass: Pass,
  ): Promise<{ first: StepResult; last: StepResult }> {
    const { instance: name, person } = connection;
    const deps = createDeps(connection, instance, pass);
    let first: StepResult | null = null;
    for (;;) {
      const state = isClosed ? null : await openState(connection, instance);
      if (state === null) return { first: first ?? 'conflict', last: 'conflict' };
      const last = await takeStep(state, false, deps);
      first ??= last;
      if (last === 'made' || last === 'switched') isPending = true;
      if (last === 'switched')
        onEvent({ kind: 'rotated', instance: name, person, expiresAt: state.pending?.expiresAt ?? null });
      if (last === 'revoked') onEvent({ kind: 'revoked', instance: name, person });
      if (typeof last === 'object' || FINAL_RESULTS.has(last)) return { first, last };
    }
  }

  /** What the steps know as the key of an instance is that of the person on it. */
  function createDeps(
    connection: ConnectionRecord,
    instance: InstanceRecord,
    { search }: Pass,
  ): RotationDeps {
    const { ask, describeAction } = options;
    return {
      ask,
      clock,
      pauseMs,
      describeAction: (action) => describeAction(connection, action),
      keys: {
        openKey: () => openState(connection, instance),
        changeKey: ({ version }, change, auditBatch) =>
          connections.changeKeys({ ...connection, version }, change, auditBatch),
      },
      async findSharer(state) {
        const name = await findInstanceWith(state, instances, null);
        if (name !== null) return `The instance "${name}"`;
        // Whose it is is not for everybody who sees the failure.
        const isShared = await search.hasOther(connection, state.apiKey);
        return isShared ? 'Another connection' : null;
      },
    };
  }

  async function openState(connection: ConnectionRecord, instance: InstanceRecord): Promise<KeyState | null> {
    const opened = await connections.openKeys(connection);
    if (opened === null || opened.record.createdAt !== connection.createdAt) return null;
    const { userId, keyExpiresAt, keyFailure, pendingStep, version, serverId } = opened.record;
    if (serverId !== connection.serverId) return null;
    const key = { expiresAt: keyExpiresAt, isExpiryKnown: true, failure: keyFailure, pendingStep };
    const name = nameConnection(connection);
    return Object.assign(new KeyHolder(opened.apiKey), {
      record: { ...instance, name, userId, key, version },
      pending: opened.pending,
    });
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
      // Soon again for old keys that wait to be revoked.
      if (!isClosed) schedule((isPending ? pauseMs : CHECK_INTERVAL_MS) * (1 + Math.random() / 4));
    }, delayMs).unref();
  }

  return {
    start: () => schedule(FIRST_CHECK_MS * (0.5 + Math.random())),
    checkAll,
    async close() {
      isClosed = true;
      clearTimeout(timer);
      await checking?.catch(() => undefined);
    },
  };
}

/** In the list of keys of the user in Odoo, after the name of the proxy. No instance has such a name. */
function nameConnection({ instance, person }: Pick<ConnectionRecord, 'instance' | 'person'>): string {
  return `${person} on ${instance}`;
}
