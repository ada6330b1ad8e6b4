/**
 * Stored Odoo servers, each with a user and a sealed key, or for persons who have their own (connections/). Changes
 * them, lists them without their keys, and opens them for calls and for key rotation. Knows nothing about Odoo.
 */
import { randomUUID } from 'node:crypto';
import type { InstanceChanges, InstanceInput } from '@erp-proxy/contract';
import { FreshCache } from '@erp-proxy/stores/fresh-cache';
import type { AuditBatch, Change, InstanceListQuery, Store, StoredInstance } from '@erp-proxy/stores/ports';
import { applyChanges, applyKeyChange, describeExpiry, type KeyChange } from './edit.ts';
import { INSTANCE_NAME, readChanges, readInput } from './members.ts';
import { type DescribeReseal, resealAll } from './reseal.ts';
import { type Body, openRow, readRow, sealRow } from './row.ts';
import { explainUnknownKeys, type Vault, VaultError } from './vault.ts';
import {
  type Instance,
  type InstanceRecord,
  type KeyState,
  toInstance,
  toKeyState,
  toRecord,
} from './views.ts';

export type { KeyChange } from './edit.ts';
export type { DescribeReseal } from './reseal.ts';
export type { Instance, InstanceRecord, KeyState } from './views.ts';

/** Methods reject with a {@link VaultError} if a secret cannot be sealed or opened. */
export interface Instances {
  /** Finds the instance for a call, in memory if possible. */
  find(name: string): Promise<Instance | null>;
  get(name: string): Promise<InstanceRecord | null>;
  /** Also returns the version of a row that cannot be read, so that it can be removed. */
  getVersion(name: string): Promise<InstanceVersion | null>;
  /** Sorted by name. A row that cannot be read is omitted, and reported to `onError`. */
  list(query: InstanceListQuery): Promise<InstanceRecord[]>;
  /**
   * Null if the name is taken. Rejects with an {@link InputError}. `describeAction` creates the audit record,
   * which is written in the transaction of the change. `auditBatch` below is such a record, too.
   */
  add(
    input: InstanceInput,
    describeAction?: (made: InstanceRecord) => AuditBatch,
  ): Promise<InstanceRecord | null>;
  /**
   * Rejects with an {@link InputError}. `conflict`, here and below: the instance has another version, or was
   * replaced by another one of the same name.
   */
  update(from: InstanceVersion, changes: InstanceChanges, auditBatch?: AuditBatch): Promise<Change>;
  remove(from: InstanceVersion, auditBatch?: AuditBatch): Promise<Change>;
  /** Null if there is no such instance, or it has no key. */
  openKey(name: string): Promise<KeyState | null>;
  changeKey(from: InstanceVersion, change: KeyChange, auditBatch?: AuditBatch): Promise<Change>;
  /** Seals again, under the current master key, instances that another one has sealed. Returns their number. */
  reseal(describeAction: DescribeReseal): Promise<number>;
  /** Rejects with a {@link VaultError} if the store has instances that this vault could not open. */
  checkVault(vault: Vault): Promise<void>;
  /** The store stays open. */
  close(): void;
}

/** The version that a change applies to. */
export type InstanceVersion = Pick<InstanceRecord, 'id' | 'name' | 'version'>;

export interface InstancesOptions {
  store: Store;
  /** Null: no master key is set. */
  vault: Vault | null;
  /** Milliseconds since 1970. */
  clock: () => number;
  /** Called with the errors of rows that cannot be used. */
  onError?: (error: unknown) => void;
  /** True: instances whose master key is lost can still be listed and removed. */
  isForRepair?: boolean;
}

/**
 * Maximum number of cached instances, of a few KB each. With more, a call may cost a lookup in the store and the
 * opening of the key.
 */
const CACHED_INSTANCES_MAX = 1_000;

/** Rejects with a {@link VaultError} if the store has instances that the vault cannot open. */
export async function createInstances({
  store,
  vault,
  clock,
  onError = () => {},
  isForRepair = false,
}: InstancesOptions): Promise<Instances> {
  const rows = store.instances;
  if (!isForRepair) await checkMasterKeys(store, vault);
  const cache = new FreshCache<StoredInstance, Instance>({
    max: CACHED_INSTANCES_MAX,
    kind: 'instance',
    store,
    read: (name) => rows.findByName(name),
    open: openInstance,
  });

  function requireVault(): Vault {
    if (vault !== null) return vault;
    throw new VaultError(
      'No master key is set to seal the keys of instances with: make one with `openssl rand -base64 32`, keep a copy of it in a safe place, and set vault.masterKey to it on every replica.',
    );
  }

  function openInstance(row: StoredInstance): Instance {
    return toInstance(row, openRow(row, requireVault()));
  }

  function* readRecords(page: readonly StoredInstance[]): Generator<InstanceRecord> {
    for (const row of page) {
      try {
        yield toRecord(row, readRow(row));
      } catch (error) {
        onError(error);
      }
    }
  }

  async function change(
    { id, name, version }: InstanceVersion,
    edit: (opened: Body) => Body,
    auditBatch: AuditBatch | undefined,
  ): Promise<Change> {
    const row = await rows.findByName(name);
    if (row === null) return 'missing';
    if (row.id !== id || row.version !== version) return 'conflict';
    const opened = openRow(row, requireVault());
    const next = { ...edit(opened), updated_at: clock() };
    const sealed = sealRow(row, next, requireVault());
    return changeAndForget(name, () => rows.replace(id, version, sealed, auditBatch));
  }

  /** Drops the cached instance, even after a failure: the outcome may be unknown. */
  async function changeAndForget<Result>(name: string, run: () => Promise<Result>): Promise<Result> {
    try {
      return await run();
    } finally {
      cache.forget(name);
    }
  }

  return {
    async find(name) {
      const known = cache.find(name);
      if (known !== undefined) return known;
      if (!INSTANCE_NAME.test(name)) return null;
      return await cache.load(name);
    },

    async get(name) {
      const row = await rows.findByName(name);
      return row && toRecord(row, readRow(row));
    },

    async getVersion(name) {
      const row = await rows.findByName(name);
      return row && { id: row.id, name, version: row.version };
    },

    async list({ after, limit, search }) {
      const records: InstanceRecord[] = [];
      for (let place = after; records.length < limit; ) {
        const page: StoredInstance[] = await rows.list({ after: place, limit, search });
        for (const record of readRecords(page)) if (matches(record, search)) records.push(record);
        if (page.length < limit) break;
        place = page.at(-1)?.name ?? null;
      }
      return records.slice(0, limit);
    },

    async add(input, describeAction) {
      const { name, key_expires_at, ...members } = readInput(input);
      // With a wrong master key, it would seal a secret that other replicas cannot open.
      await checkMasterKeys(store, vault);
      const identity = { id: randomUUID(), name };
      const now = clock();
      const body: Body = {
        v: 1,
        ...members,
        ...describeExpiry(key_expires_at),
        key_failure: null,
        pending: null,
        created_at: now,
        updated_at: now,
      };
      const sealed = { ...identity, ...sealRow(identity, body, requireVault()) };
      const made = toRecord({ ...identity, version: 1 }, body);
      const outcome = await changeAndForget(name, () => rows.insert(sealed, describeAction?.(made)));
      return outcome === 'done' ? made : null;
    },

    async update(from, changes, auditBatch) {
      const given = readChanges(changes);
      return change(from, (opened) => applyChanges(opened, given), auditBatch);
    },

    async remove({ id, name, version }, auditBatch) {
      const row = await rows.findByName(name);
      if (row === null) return 'missing';
      if (row.id !== id) return 'conflict';
      return changeAndForget(name, () => rows.remove(id, version, auditBatch));
    },

    async openKey(name) {
      const row = await rows.findByName(name);
      return row && toKeyState(row, openRow(row, requireVault()));
    },

    changeKey: (from, keyChange, auditBatch) =>
      change(from, (opened) => applyKeyChange(opened, keyChange), auditBatch),

    reseal: async (describeAction) =>
      vault === null ? 0 : resealAll(rows, vault, { onError, describeAction }),
    checkVault: (other) => checkMasterKeys(store, other),
    close: () => cache.close(),
  };
}

async function checkMasterKeys(store: Store, vault: Vault | null): Promise<void> {
  const counts = await store.instances.countByMasterKey();
  const unknown = [...counts.keys()].filter((id) => !vault?.knows(id)).sort();
  if (unknown.length > 0) throw new VaultError(explainUnknownKeys(unknown, vault?.masterKeyId ?? null));
}

/** The store searches the whole body. Only matches in the name, the address and the tags count. */
function matches({ name, url, tags }: InstanceRecord, search: string | undefined): boolean {
  if (search === undefined) return true;
  const wanted = search.toLowerCase();
  return [name, url, ...tags].some((text) => text.toLowerCase().includes(wanted));
}
