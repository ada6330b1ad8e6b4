/**
 * What the authorization server keeps for a time, sealed in the store under hashes of its ids: who has a copy of the
 * store has neither codes nor tokens. Knows no protocol.
 */
import { hash } from 'node:crypto';
import { tryParse } from '@erp-proxy/contract';
import { type Vault, VaultError } from '@erp-proxy/control/instances';
import type { SignInObject, SignInObjectStore } from '@erp-proxy/stores/ports';

export type Content = Readonly<Record<string, unknown>>;

export interface FoundObject {
  readonly content: Content;
  readonly consent: string | null;
  /** Milliseconds since 1970; null: it was not used yet. */
  readonly consumedAt: number | null;
}

export interface NewObject {
  content: Content;
  /** The consent with which it ends. */
  consent?: string | null;
  expiresAt: number;
  /** Maximum number of objects of this kind; null: any. */
  max?: number | null;
}

/** Methods reject if the store fails. */
export interface Objects {
  /** False if its consent has ended. */
  put(kind: string, id: string, object: NewObject): Promise<boolean>;
  /** Null if there is none, it has expired, or it cannot be opened. */
  find(kind: string, id: string): Promise<FoundObject | null>;
  /** True for the first use. The object stays until `keptUntil`, so that a second use is noticed. */
  consume(kind: string, id: string, keptUntil: number): Promise<boolean>;
  extend(kind: string, id: string, expiresAt: number): Promise<void>;
  remove(kind: string, id: string): Promise<void>;
}

const PRUNED_MAX = 200;

export function createObjects(store: SignInObjectStore, vault: Vault, clock: () => number): Objects {
  const open = (kind: string, id: string, { body }: SignInObject): Content | null => {
    try {
      return tryParse(vault.open(body, bind(kind, id))) as Content | null;
    } catch (error) {
      if (error instanceof VaultError) return null;
      throw error;
    }
  };
  return {
    async put(kind, id, { content, consent = null, expiresAt, max = null }) {
      const now = clock();
      await store.prune(now, PRUNED_MAX);
      const body = vault.seal(JSON.stringify(content), bind(kind, id));
      const object = { kind, id: nameObject(kind, id), consent, body, consumedAt: null };
      return store.put({ ...object, createdAt: now, expiresAt }, max);
    },
    async find(kind, id) {
      const object = await store.find(kind, nameObject(kind, id));
      if (object === null || clock() >= object.expiresAt) return null;
      const content = open(kind, id, object);
      return content && { content, consent: object.consent, consumedAt: object.consumedAt };
    },
    consume: (kind, id, keptUntil) => store.consume(kind, nameObject(kind, id), clock(), keptUntil),
    extend: (kind, id, expiresAt) => store.extend(kind, nameObject(kind, id), expiresAt),
    remove: (kind, id) => store.remove(kind, nameObject(kind, id)),
  };
}

function nameObject(kind: string, id: string): string {
  return hash('sha256', `${kind} ${id}`, 'base64url');
}

function bind(kind: string, id: string): string {
  return JSON.stringify(['sign-in object', kind, id]);
}
