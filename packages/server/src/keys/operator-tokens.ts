/**
 * Personal tokens of operators: creates and revokes them, and authenticates the tokens that requests to the admin API
 * bring. Each request reads the store, so that a revoked token stops working at once on every replica. Knows neither
 * HTTP nor what a role may do.
 */
import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';
import { arePatterns, includesRole, intersectPatterns, type Role, tryParse } from '@erp-proxy/contract';
import type { AuditBatch } from '../stores/ports/audit.ts';
import type { OperatorToken, OperatorTokenStore } from '../stores/ports/operator-tokens.ts';
import { generateKey, parseKey, TOKEN_PREFIX } from './format.ts';
import { createLastUsed } from './last-used.ts';

/** Tokens that are read at once. */
const PAGE_TOKENS = 100;
/** Hash in place of that of an unknown id, so that its comparison takes as long as with a wrong secret. */
const NO_HASH = new Uint8Array(32);

export interface RefusedToken {
  readonly refused: 'unknown' | 'expired' | 'revoked' | 'denied';
}

export interface NewOperatorToken {
  /** The text to send. It is not stored anywhere. */
  readonly text: string;
  readonly record: OperatorToken;
}

/** What changes, as the audit shows it. */
export type TokenChanges = Record<string, { from: unknown; to: unknown }>;

/** The rights of a person, beyond which the tokens of the person do not go. */
export interface Rights {
  readonly role: Role;
  /** Patterns of instances; null: all. */
  readonly instances: readonly string[] | null;
}

/** The patterns of the instances that a token is limited to; null: all. A damaged text gives none. */
export function readTokenInstances({ instances }: Pick<OperatorToken, 'instances'>): string[] | null {
  if (instances === null) return null;
  const patterns = tryParse(instances);
  return arePatterns(patterns) ? patterns : [];
}

export interface OperatorTokens {
  /** Rejects if the store fails: a token that cannot be looked up is not accepted. */
  authenticate(text: string): Promise<OperatorToken | RefusedToken>;
  create(
    token: Pick<OperatorToken, 'name' | 'role' | 'instances' | 'expiresAt' | 'createdBy'>,
    describeAction: (record: OperatorToken) => AuditBatch,
  ): Promise<NewOperatorToken>;
  find(id: string): Promise<OperatorToken | null>;
  list: OperatorTokenStore['list'];
  /** False if there is no such token, or it is revoked already. */
  revoke(id: string, auditBatch: AuditBatch): Promise<boolean>;
  /**
   * Limits the tokens that a person has created to the rights of the person. Revokes those of which nothing remains;
   * `rights` null: all of them. Rejects if the store fails.
   */
  limitTo(
    person: string,
    rights: Rights | null,
    describeAction: (action: string, id: string, changes: TokenChanges) => AuditBatch,
  ): Promise<void>;
  /** Completes background writes. The store stays open. */
  close(): Promise<void>;
}

export interface OperatorTokensOptions {
  store: OperatorTokenStore;
  /** Whether the subject of the person who created a token is denied. Rejects if the store fails. */
  isCreatorDenied: (token: OperatorToken) => Promise<boolean>;
  /** The secret with which tokens are hashed. */
  secret: Uint8Array;
  /** Milliseconds since 1970. */
  clock: () => number;
  /** Called with errors of background writes. */
  onError: (error: unknown) => void;
}

export function createOperatorTokens({
  store,
  isCreatorDenied,
  secret,
  clock,
  onError,
}: OperatorTokensOptions): OperatorTokens {
  const hashKey = createSecretKey(secret);
  const hashSecret = (text: string) => new Uint8Array(createHmac('sha256', hashKey).update(text).digest());
  const lastUsed = createLastUsed(store, onError);

  async function limitToken(
    token: OperatorToken,
    rights: Rights | null,
    describeAction: Parameters<OperatorTokens['limitTo']>[2],
  ): Promise<void> {
    const before = { role: token.role, instances: readTokenInstances(token) };
    const instances = rights && intersectPatterns(before.instances, rights.instances);
    if (rights === null || instances?.length === 0) {
      const changes = { state: { from: 'active', to: 'revoked' } };
      await store.revoke(token.id, clock(), describeAction('token.revoke', token.id, changes));
      return;
    }
    const role = includesRole(rights.role, before.role) ? before.role : rights.role;
    const isSame = role === before.role && JSON.stringify(instances) === JSON.stringify(before.instances);
    if (isSame) return;
    const changes = {
      ...(role === before.role ? null : { role: { from: before.role, to: role } }),
      instances: { from: before.instances, to: instances },
    };
    const limited = { role, instances: instances && JSON.stringify(instances) };
    await store.limit(token.id, limited, describeAction('token.limit', token.id, changes));
  }

  return {
    async authenticate(text) {
      const parts = parseKey(text, TOKEN_PREFIX);
      if (parts === null) return { refused: 'unknown' };
      const found = await store.findById(parts.id);
      const matches = timingSafeEqual(hashSecret(parts.secret), found?.secretHash ?? NO_HASH);
      if (found === null || !matches) return { refused: 'unknown' };
      const now = clock();
      if (found.revokedAt !== null) return { refused: 'revoked' };
      if (found.expiresAt !== null && now >= found.expiresAt) return { refused: 'expired' };
      if (await isCreatorDenied(found)) return { refused: 'denied' };
      lastUsed.record(found, now);
      return found;
    },

    async create(given, describeAction) {
      const { id, secret, text } = generateKey(TOKEN_PREFIX);
      const record: OperatorToken = { id, ...given, createdAt: clock(), revokedAt: null, lastUsedAt: null };
      await store.insert({ ...record, secretHash: hashSecret(secret) }, describeAction(record));
      return { text, record };
    },

    async find(id) {
      const found = await store.findById(id);
      if (found === null) return null;
      const { secretHash: _, ...record } = found;
      return record;
    },

    list: (after, limit) => store.list(after, limit),
    async limitTo(person, rights, describeAction) {
      let after: Parameters<OperatorTokenStore['list']>[0] = null;
      for (;;) {
        const tokens: OperatorToken[] = await store.list(after, PAGE_TOKENS);
        for (const token of tokens) {
          if (token.revokedAt === null && isOf(token, person))
            await limitToken(token, rights, describeAction);
        }
        after = tokens.at(-1) ?? null;
        if (after === null || tokens.length < PAGE_TOKENS) return;
      }
    },
    revoke: (id, auditBatch) => store.revoke(id, clock(), auditBatch),
    close: lastUsed.close,
  };
}

/** `createdBy` is the JSON text of an actor. */
function isOf({ createdBy }: OperatorToken, person: string): boolean {
  const actor = tryParse(createdBy);
  return typeof actor === 'object' && actor !== null && 'id' in actor && actor.id === person;
}
