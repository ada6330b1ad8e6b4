/** Connections of persons to stored instances. Part of the interface of a store (store.ts). */
import type { AuditBatch } from './audit.ts';
import type { Change } from './change.ts';
import type { KeyStore } from './keys.ts';

/** Identifies a connection. */
export interface ConnectionId {
  /** Name of the instance. */
  readonly instance: string;
  /** `<issuer>/<subject>` */
  readonly person: string;
}

/** The Odoo user of one person on one instance. It ends with the instance. */
export interface StoredConnection extends ConnectionId {
  /** Id of the instance: another one can get the same name later. */
  readonly instanceId: string;
  /** Name of the master key that seals its secret. */
  readonly masterKeyId: string;
  /** JSON text of all other members, with the sealed secret. Only connections/ knows its shape. */
  readonly body: string;
  /** Starts at 1. Each further `put` and each `replace` adds 1. */
  readonly version: number;
}

export interface ConnectionListQuery {
  /** The last connection of the page before; null: begins with the first. */
  after: ConnectionId | null;
  limit: number;
  instance?: string | undefined;
  person?: string | undefined;
}

/** The audit record `auditBatch` is appended as in {@link KeyStore}. */
export interface ConnectionStore {
  /** Inserts the connection, or replaces the one with this id. `missing`: there is no such instance. */
  put(
    connection: Omit<StoredConnection, 'version'>,
    auditBatch?: AuditBatch,
  ): Promise<Exclude<Change, 'conflict'>>;
  find(instance: string, person: string): Promise<StoredConnection | null>;
  /** At most `limit` connections, ordered by the code points of instance and person. */
  list(query: ConnectionListQuery): Promise<StoredConnection[]>;
  /** Replaces master key and body if the connection still has this version. False if it does not. */
  replace(
    id: ConnectionId,
    version: number,
    next: Pick<StoredConnection, 'masterKeyId' | 'body'>,
    auditBatch?: AuditBatch,
  ): Promise<boolean>;
  /** False if there is no such connection. */
  remove(instance: string, person: string, auditBatch?: AuditBatch): Promise<boolean>;
}
