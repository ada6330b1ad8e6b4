/**
 * Connections of persons: the user in Odoo of a person on an instance with the identity `person`, with a sealed key.
 * Opens them for calls, lists them without their keys, and changes them. Knows neither Odoo nor how a person signs in.
 */

import { FreshCache } from '@erp-proxy/stores/fresh-cache';
import type {
  AuditBatch,
  Change,
  ConnectionId,
  ConnectionListQuery,
  Store,
  StoredConnection,
} from '@erp-proxy/stores/ports';
import { applyKeyChange, type KeyChange } from '../instances/edit.ts';
import type { Instance } from '../instances/instances.ts';
import { type Vault, VaultError } from '../instances/vault.ts';
import { KeyHolder, type PendingKey, toPending } from '../instances/views.ts';
import { type Body, openConnection, readConnection, sealConnection } from './row.ts';

/** What a call needs to run as the user of a person. */
export interface Connection extends ConnectionId {
  readonly userId: number;
  readonly login: string;
  /** Is not enumerated, printed or copied with the other members. */
  readonly apiKey: string;
}

/** A connection without its key. Times are milliseconds since 1970. */
export interface ConnectionRecord extends ConnectionId, Pick<Connection, 'userId' | 'login'> {
  /** Name of the server for which the key was given (`Instance.serverId`). */
  readonly serverId: string;
  /** When the key expires in Odoo; null: never, or not known. */
  readonly keyExpiresAt: number | null;
  /** Why the last renewal of the key failed, for operators. */
  readonly keyFailure: string | null;
  readonly pendingStep: PendingKey['step'] | null;
  readonly createdAt: number;
  /** When its person gave the key. */
  readonly updatedAt: number;
  /** Each change adds 1. */
  readonly version: number;
}

/** The keys of a connection, as their renewal needs them. Keys are not enumerated. */
export interface ConnectionKeys {
  readonly record: ConnectionRecord;
  readonly apiKey: string;
  readonly pending: PendingKey | null;
}

export interface NewConnection extends Pick<Connection, 'person' | 'userId' | 'login' | 'apiKey'> {
  keyExpiresAt: number | null;
}

/** Creates the audit record of a reseal. `masterKeys` are names of master keys. */
export type DescribeConnectionReseal = (
  id: ConnectionId,
  masterKeys: { from: string; to: string },
) => AuditBatch;

/** Methods reject with a {@link VaultError} if a key cannot be sealed or opened. */
export interface Connections {
  /**
   * Finds the connection for a call, in memory if possible. Null: the person has none, or its key was given for another
   * server than the instance has now.
   */
  find(person: string, instance: Instance): Promise<Connection | null>;
  get(person: string, instance: string): Promise<ConnectionRecord | null>;
  /** Sorted by instance and person. A row that cannot be read is left out, and reported to `onError`. */
  list(query: ConnectionListQuery): Promise<ConnectionRecord[]>;
  /** Adds the connection, or replaces that of its person. Null: the instance was removed meanwhile. */
  put(
    instance: Instance,
    connection: NewConnection,
    describeAction?: (before: ConnectionRecord | null, after: ConnectionRecord) => AuditBatch,
  ): Promise<ConnectionRecord | null>;
  /** Opens the keys from the store. Null: there is no such connection. */
  openKeys(id: ConnectionId): Promise<ConnectionKeys | null>;
  /** Changes the keys of this version of a connection. */
  changeKeys(from: ConnectionRecord, change: KeyChange, auditBatch?: AuditBatch): Promise<Change>;
  /** False if there is none. */
  remove(id: ConnectionId, auditBatch?: AuditBatch): Promise<boolean>;
  /** Seals again, under the current master key, keys that another one has sealed. Returns their number. */
  reseal(describeAction: DescribeConnectionReseal): Promise<number>;
  /** The store stays open. */
  close(): void;
}

export interface ConnectionsOptions {
  store: Pick<Store, 'connections' | 'watch' | 'isWatching'>;
  /** Null: no master key is set. */
  vault: Vault | null;
  /** Milliseconds since 1970. */
  clock: () => number;
  /** Called with the errors of rows that cannot be used. */
  onError?: (error: unknown) => void;
}

/**
 * Maximum number of cached connections: about 10 MB. With more, a call may cost a lookup in the store and the opening
 * of the key.
 */
const CACHED_MAX = 10_000;
const PAGE_ROWS = 100;

/** A connection in memory, with the server for which its key was given. */
interface KnownConnection {
  readonly connection: Connection;
  readonly serverId: string;
}

export function createConnections({
  store,
  vault,
  clock,
  onError = () => {},
}: ConnectionsOptions): Connections {
  const rows = store.connections;
  const cache = new FreshCache<StoredConnection, KnownConnection>({
    max: CACHED_MAX,
    kind: 'connection',
    store,
    read: (id) => {
      const { instance, person } = readId(id);
      return rows.find(instance, person);
    },
    open: (row) => {
      const { api_key, login, user_id, server } = openConnection(row, requireVault());
      const { instance, person } = row;
      const connection = Object.assign(new KeyHolder(api_key), { instance, person, login, userId: user_id });
      return { connection, serverId: server };
    },
  });

  function requireVault(): Vault {
    if (vault !== null) return vault;
    throw new VaultError('No master key is set to seal the keys of persons with: set vault.masterKey.');
  }

  /** Drops the cached connection, even after a failure: the outcome may be unknown. */
  async function changeAndForget<Result>(id: ConnectionId, change: () => Promise<Result>): Promise<Result> {
    try {
      return await change();
    } finally {
      cache.forget(printId(id));
    }
  }

  async function change(
    from: ConnectionRecord,
    keyChange: KeyChange,
    auditBatch: AuditBatch | undefined,
  ): Promise<Change> {
    const row = await rows.find(from.instance, from.person);
    if (row === null) return 'missing';
    const opened = openConnection(row, requireVault());
    // A connection that was removed and made again has the same versions.
    if (row.version !== from.version || opened.created_at !== from.createdAt) return 'conflict';
    const sealed = sealConnection(row, applyKeyChange(opened, keyChange), requireVault());
    const isDone = await changeAndForget(from, () => rows.replace(row, row.version, sealed, auditBatch));
    return isDone ? 'done' : 'conflict';
  }

  async function get(person: string, instance: string): Promise<ConnectionRecord | null> {
    const row = await rows.find(instance, person);
    return row && toRecord(row, readConnection(row));
  }

  function* readRecords(page: readonly StoredConnection[]): Generator<ConnectionRecord> {
    for (const row of page) {
      try {
        yield toRecord(row, readConnection(row));
      } catch (error) {
        onError(error);
      }
    }
  }

  async function resealRow(
    row: StoredConnection,
    describeAction: DescribeConnectionReseal,
  ): Promise<boolean> {
    if (row.masterKeyId === requireVault().masterKeyId) return false;
    const sealed = sealConnection(row, openConnection(row, requireVault()), requireVault());
    const auditBatch = describeAction(row, { from: row.masterKeyId, to: sealed.masterKeyId });
    // A connection that was changed meanwhile is sealed under the current master key.
    return changeAndForget(row, () => rows.replace(row, row.version, sealed, auditBatch));
  }

  return {
    async find(person, instance) {
      const id = printId({ instance: instance.name, person });
      const cached = cache.find(id);
      const known = cached === undefined ? await cache.load(id) : cached;
      return known === null || known.serverId !== instance.serverId ? null : known.connection;
    },

    get,

    async list(query) {
      const records: ConnectionRecord[] = [];
      for (let after = query.after; records.length < query.limit; ) {
        const page: StoredConnection[] = await rows.list({ ...query, after });
        records.push(...readRecords(page));
        if (page.length < query.limit) break;
        after = page.at(-1) ?? null;
      }
      return records.slice(0, query.limit);
    },

    async put(instance, { person, login, userId, apiKey, keyExpiresAt }, describeAction) {
      const id = { instance: instance.name, person };
      // A row that cannot be read is replaced.
      const before = await get(person, instance.name).catch((error: unknown) => {
        if (error instanceof VaultError) return null;
        throw error;
      });
      const now = clock();
      const body: Body = {
        v: 1,
        server: instance.serverId,
        login,
        user_id: userId,
        api_key: apiKey,
        key_expires_at: keyExpiresAt,
        key_failure: null,
        pending: null,
        created_at: before?.createdAt ?? now,
        updated_at: now,
      };
      const after = toRecord({ ...id, version: (before?.version ?? 0) + 1 }, body);
      const row = { ...id, instanceId: instance.id, ...sealConnection(id, body, requireVault()) };
      const outcome = await changeAndForget(id, () => rows.put(row, describeAction?.(before, after)));
      return outcome === 'done' ? after : null;
    },

    async openKeys(id) {
      const row = await rows.find(id.instance, id.person);
      if (row === null) return null;
      const { api_key, pending, ...opened } = openConnection(row, requireVault());
      const record = toRecord(row, { ...opened, api_key, pending });
      return Object.assign(new KeyHolder(api_key), { record, pending: pending && toPending(pending) });
    },
    changeKeys: change,

    remove: (id, auditBatch) => changeAndForget(id, () => rows.remove(id.instance, id.person, auditBatch)),

    async reseal(describeAction) {
      if (vault === null) return 0;
      let count = 0;
      for (let after: ConnectionId | null = null; ; ) {
        const page: StoredConnection[] = await rows.list({ after, limit: PAGE_ROWS });
        for (const row of page) {
          try {
            if (await resealRow(row, describeAction)) count++;
          } catch (error) {
            if (!(error instanceof VaultError)) throw error;
            onError(error);
          }
        }
        const last = page.at(-1);
        if (page.length < PAGE_ROWS || last === undefined) return count;
        after = last;
      }
    },

    close: () => cache.close(),
  };
}

/** The id under which the store reports changes. Neither a name of an instance nor the id of a person has a space. */
function printId({ instance, person }: ConnectionId): string {
  return `${instance} ${person}`;
}

function readId(id: string): ConnectionId {
  const space = id.indexOf(' ');
  return { instance: id.slice(0, space), person: id.slice(space + 1) };
}

function toRecord(
  { instance, person, version }: ConnectionId & Pick<StoredConnection, 'version'>,
  body: Body,
): ConnectionRecord {
  return {
    instance,
    person,
    userId: body.user_id,
    login: body.login,
    serverId: body.server,
    keyExpiresAt: body.key_expires_at,
    keyFailure: body.key_failure,
    pendingStep: body.pending?.step ?? null,
    createdAt: body.created_at,
    updatedAt: body.updated_at,
    version,
  };
}
