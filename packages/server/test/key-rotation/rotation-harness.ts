/** Starts a sandbox Odoo, stores an instance for it, and runs its key rotation on a clock that the test sets. */

import { createInstances, createVault, type Instances } from '@erp-proxy/control/instances';
import {
  type AskOdoo,
  createAskOdoo,
  createKeyRotation,
  type KeyRotation,
  type KeyRotationEvent,
  type OdooAnswer,
} from '@erp-proxy/control/key-rotation';
import { createEgressDispatcher } from '@erp-proxy/egress';
import { parseEgressPolicy } from '@erp-proxy/egress/policy';
import { type Sandbox, type SandboxUser, startSandbox, type Version } from '@erp-proxy/sandbox';
import type { LeaseStore } from '@erp-proxy/stores/ports';
import { makeBatch, openMemoryStore } from '@erp-proxy/stores/testing';

/** When the keys of the sandbox were made. */
export const CREATED_AT = Date.UTC(2026, 10, 21, 1, 30, 31);
export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;
/** Slightly longer than the pause before key rotation revokes the old key. */
export const PAUSE_MS = 320_000;

const LABEL = /^erp-proxy prod /;

export interface HarnessOptions {
  version?: Version;
  protocol?: 'auto' | 'jsonrpc' | 'json2';
  user?: 'admin' | 'demo';
  /** The key to store in place of the user's key. */
  apiKey?: string;
  /** When the keys expire, in days after {@link CREATED_AT}; null: never. */
  keyDays?: number | null;
  /** The current time, in days after {@link CREATED_AT}. */
  nowDays?: number;
  rotate?: boolean;
  keyExpiresAt?: string;
  programmaticKeys?: boolean;
}

export interface RotationParts {
  ask: AskOdoo;
  instances: Instances;
  leases: LeaseStore;
  owner: string;
  storesFailures?: boolean;
}

export interface RotationHarness {
  sandbox: Sandbox;
  user: SandboxUser;
  instances: Instances;
  ask: AskOdoo;
  leases: LeaseStore;
  events: KeyRotationEvent[];
  errors: unknown[];
  advance(ms: number): void;
  now(): number;
  /** Opens the key rotation of a new process, which remembers nothing of earlier ones. */
  openRotation(parts?: Partial<RotationParts>): KeyRotation;
  /** Odoo's answer to a call with the stored key. */
  callWithStoredKey(): Promise<OdooAnswer>;
  callWith(apiKey: string): Promise<OdooAnswer>;
  storedKey(): Promise<string>;
  /** Names of the user's keys that have not expired; `ours`: the keys that the proxy made. */
  listKeys(): Promise<{ all: string[]; ours: string[] }>;
  close(): Promise<void>;
}

export async function startHarness({
  version = 19,
  protocol = 'auto',
  user: login = 'demo',
  keyDays = 90,
  nowDays = 70,
  rotate = true,
  programmaticKeys = true,
  ...options
}: HarnessOptions = {}): Promise<RotationHarness> {
  let now = CREATED_AT + nowDays * DAY_MS;
  const clock = () => now;
  const keysExpireAt = keyDays === null ? null : CREATED_AT + keyDays * DAY_MS;
  const sandbox = await startSandbox({ version, clock, keysExpireAt, programmaticKeys });
  const user = sandbox.users[login];
  const egress = createEgressDispatcher({
    allow: parseEgressPolicy([sandbox.url]).policy,
    connectTimeoutMs: 5000,
    firstByteTimeoutMs: null,
  });
  const ask = createAskOdoo({ egress, timeoutMs: 10_000 });
  const store = openMemoryStore();
  const events: KeyRotationEvent[] = [];
  const errors: unknown[] = [];
  const onError = (error: unknown) => errors.push(error);
  const vault = createVault({ masterKey: Buffer.alloc(32, 7).toString('base64'), otherMasterKeys: [] });
  const instances = await createInstances({ store, vault, clock, onError });
  await instances.add({
    name: 'prod',
    url: sandbox.url,
    db: sandbox.db,
    user_id: user.userId,
    api_key: options.apiKey ?? user.apiKey,
    protocol,
    rotate_key: rotate,
    allow_private: true,
    ...(options.keyExpiresAt === undefined ? {} : { key_expires_at: options.keyExpiresAt }),
  });

  async function open() {
    const state = await instances.openKey('prod');
    if (state === null) throw new Error('the instance is gone');
    return state;
  }
  const callWith: RotationHarness['callWith'] = async (apiKey) =>
    ask((await open()).record, apiKey, { model: 'res.users', method: 'context_get', keyword: {} });

  return {
    sandbox,
    user,
    instances,
    ask,
    leases: store.leases,
    events,
    errors,
    advance(ms) {
      now += ms;
    },
    now: clock,
    openRotation: (parts = {}) =>
      createKeyRotation({
        instances,
        ask,
        leases: store.leases,
        owner: 'one',
        clock,
        describeAction: (action) => makeBatch({ at: now, record: JSON.stringify(action) }),
        onEvent: (event) => events.push(event),
        onError,
        storesFailures: true,
        ...parts,
      }),
    callWith,
    callWithStoredKey: async () => callWith((await open()).apiKey),
    storedKey: async () => (await open()).apiKey,
    async listKeys() {
      const { record, apiKey } = await open();
      const answer = await ask(record, apiKey, {
        model: 'res.users.apikeys',
        method: 'search_read',
        keyword: { domain: [['user_id', '=', user.userId]], fields: ['name'] },
      });
      if (answer.kind !== 'result') throw new Error(answer.message);
      const all = (answer.value as { name: string }[]).map(({ name }) => name);
      return { all, ours: all.filter((name) => LABEL.test(name)) };
    },
    async close() {
      instances.close();
      await store.close();
      await egress.close();
      await sandbox.close();
    },
  };
}

export const REFUSED = { kind: 'refused', type: 'access_denied', message: 'Access Denied' } as const;
