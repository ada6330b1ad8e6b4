/**
 * Consents: an application may act as a person, by tokens that the proxy issues. Opens them for calls and for new
 * tokens, lists them without their secrets, and ends them. A token lives as long as its consent at most. Knows neither
 * tokens nor how a person signs in.
 */
import { FreshCache } from '@erp-proxy/stores/fresh-cache';
import type { AuditBatch, ConsentListQuery, Store, StoredConsent } from '@erp-proxy/stores/ports';
import { type Vault, VaultError } from '../instances/vault.ts';
import { type Body, openConsent, readConsent, type Secrets, sealConsent } from './row.ts';

type Members = Omit<StoredConsent, 'body'>;

/** A consent without its secrets. Times are milliseconds since 1970. */
export interface ConsentRecord extends Members {
  /** Name of the application, as it has told it. */
  readonly name: string;
  readonly scopes: readonly string[];
  /** The resource for which the application has asked. */
  readonly resource: string;
  /** Origin or scheme of the address to which the application got its code. */
  readonly address: string;
}

/** A consent with what its person is granted by. */
export interface Consent extends ConsentRecord {
  /** What the provider has said about the person. */
  readonly claims: Readonly<Record<string, unknown>>;
  /** The refresh token of the provider, by which it is asked again; null: there is none. */
  readonly refreshToken: string | null;
  /** When the provider must be asked again whether the person may go on. */
  readonly askAt: number;
  /** When the provider has said so for the last time. */
  readonly confirmedAt: number;
  /** For a person who signed in by Odoo: name of the server (`Instance.serverId`); otherwise null. */
  readonly serverId: string | null;
}

export type NewConsent = Omit<Consent, 'usedAt'>;

type Whose = { person: string } | { providerSession: string };

/** What changes when the provider confirms the person. */
export type ConsentChange = Pick<Consent, 'claims' | 'refreshToken' | 'askAt' | 'confirmedAt'>;

/** Methods reject if the store fails. */
export interface Consents {
  /** Finds a consent for a call, in memory if possible. Null: it has ended, or cannot be opened. */
  find(id: string): Promise<Consent | null>;
  /** As {@link find}, from the store. */
  read(id: string): Promise<Consent | null>;
  get(id: string): Promise<ConsentRecord | null>;
  /** Sorted by person and id. A row that cannot be read is left out, and reported to `onError`. */
  list(query: ConsentListQuery): Promise<ConsentRecord[]>;
  /** All of a person, or of a session at the provider. */
  listOf(whose: Whose): Promise<ConsentRecord[]>;
  add(consent: NewConsent, auditBatch?: AuditBatch): Promise<void>;
  /** False if the consent has ended meanwhile. */
  update(consent: Consent, change: ConsentChange): Promise<boolean>;
  /** Records that a token is issued. */
  touch(id: string): Promise<void>;
  /** False if there is none. */
  remove(id: string, auditBatch?: AuditBatch): Promise<boolean>;
  /** Ends all of a person, or of a session at the provider. `describe`: the audit record of each end. */
  removeOf(whose: Whose, describe: (consent: ConsentRecord) => AuditBatch): Promise<void>;
  /** The store stays open. */
  close(): void;
}

export interface ConsentsOptions {
  store: Pick<Store, 'consents' | 'watch' | 'isWatching'>;
  vault: Vault;
  /** Milliseconds since 1970. */
  clock: () => number;
  /** Called with the errors of rows that cannot be used. */
  onError?: (error: unknown) => void;
}

/** Maximum number of cached consents: about 10 MB. */
const CACHED_MAX = 10_000;
/** More than a person uses. If a person adds another one, the oldest ends. */
export const CONSENTS_OF_PERSON_MAX = 100;
const PRUNED_MAX = 100;

/** A row in memory. `consent` null: it cannot be opened. */
interface Known {
  readonly consent: Consent | null;
}

export function createConsents({ store, vault, clock, onError = () => {} }: ConsentsOptions): Consents {
  const rows = store.consents;
  const cache = new FreshCache<StoredConsent, Known>({
    max: CACHED_MAX,
    kind: 'consent',
    store,
    read: (id) => rows.find(id),
    open: (row) => ({ consent: open(row) }),
  });

  function open(row: StoredConsent): Consent | null {
    try {
      return toConsent(row, openConsent(row, vault));
    } catch (error) {
      if (!(error instanceof VaultError)) throw error;
      onError(error);
      return null;
    }
  }

  const useUnlessExpired = (consent: Consent | null) =>
    consent === null || clock() >= consent.expiresAt ? null : consent;

  async function read(id: string): Promise<Consent | null> {
    const row = await rows.find(id);
    return row && useUnlessExpired(open(row));
  }

  /** Drops the cached consent, even after a failure: the outcome may be unknown. */
  async function changeAndForget<Result>(id: string, change: () => Promise<Result>): Promise<Result> {
    try {
      return await change();
    } finally {
      cache.forget(id);
    }
  }

  async function list(query: ConsentListQuery): Promise<ConsentRecord[]> {
    const records: ConsentRecord[] = [];
    for (let after = query.after; records.length < query.limit; ) {
      const page: StoredConsent[] = await rows.list({ ...query, after });
      for (const row of page) {
        try {
          if (clock() < row.expiresAt) records.push(toRecord(row, readConsent(row)));
        } catch (error) {
          onError(error);
        }
      }
      if (page.length < query.limit) break;
      after = page.at(-1) ?? null;
    }
    return records.slice(0, query.limit);
  }

  const listOf = (whose: Whose) => list({ after: null, limit: CONSENTS_OF_PERSON_MAX, ...whose });

  const remove = (id: string, auditBatch?: AuditBatch) =>
    changeAndForget(id, () => rows.remove(id, auditBatch));

  return {
    async find(id) {
      const cached = cache.find(id);
      const known = cached === undefined ? await cache.load(id) : cached;
      return known && useUnlessExpired(known.consent);
    },

    read,

    async get(id) {
      const row = await rows.find(id);
      return row && toRecord(row, readConsent(row));
    },

    list,

    async add(consent, auditBatch) {
      await rows.prune(clock(), PRUNED_MAX);
      const row = { ...pickMembers({ ...consent, usedAt: consent.createdAt }), body: seal(consent) };
      await changeAndForget(consent.id, () => rows.insert(row, CONSENTS_OF_PERSON_MAX, auditBatch));
    },

    update: (consent, change) => {
      const body = seal({ ...consent, ...change });
      return changeAndForget(consent.id, () => rows.update(consent.id, body));
    },
    touch: (id) => changeAndForget(id, () => rows.touch(id, clock())),

    listOf,
    remove,

    async removeOf(whose, describe) {
      for (const consent of await listOf(whose)) await remove(consent.id, describe(consent));
      // Also what has expired, or cannot be read.
      await rows.removeOf(whose);
    },

    close: () => cache.close(),
  };

  function seal(consent: NewConsent): string {
    const { name, scopes, resource, address, askAt, confirmedAt, serverId, claims, refreshToken } = consent;
    const body: Body = {
      v: 1,
      name,
      scopes: [...scopes],
      resource,
      address,
      ask_at: askAt,
      confirmed_at: confirmedAt,
      server_id: serverId,
      secrets: { claims, refresh_token: refreshToken },
    };
    return sealConsent(consent, body, vault);
  }
}

function pickMembers(consent: Members): Members {
  const { id, person, application, providerSession, createdAt, usedAt, expiresAt } = consent;
  return { id, person, application, providerSession, createdAt, usedAt, expiresAt };
}

function toRecord(row: StoredConsent, body: Omit<Body, 'secrets'>): ConsentRecord {
  const { name, scopes, resource, address } = body;
  return { ...pickMembers(row), name, scopes, resource, address };
}

function toConsent(row: StoredConsent, body: Body): Consent {
  const { claims, refresh_token: refreshToken }: Secrets = body.secrets;
  return {
    ...toRecord(row, body),
    claims,
    refreshToken,
    askAt: body.ask_at,
    confirmedAt: body.confirmed_at,
    serverId: body.server_id,
  };
}
