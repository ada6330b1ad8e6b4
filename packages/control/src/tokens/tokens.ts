/**
 * Authenticates tokens of identity providers, and those that the proxy issues to applications: JSON Web Tokens (RFC
 * 7519) as bearer tokens, verified as RFC 8725 and RFC 9068 recommend. The reason why a token is refused is for the
 * operator's log only. Knows neither HTTP nor the meaning of a policy.
 */

import { hash } from 'node:crypto';
import { atMost, SingleFlight } from '@erp-proxy/async/tasks';
import { cutText } from '@erp-proxy/contract';
import type { EgressDispatcher } from '@erp-proxy/egress';
import { errors, type JWTPayload, type JWTVerifyGetKey, type JWTVerifyOptions, jwtVerify } from 'jose';
import { LRUCache } from 'lru-cache';
import type { Clients, RefusedToken } from '../keys/clients.ts';
import type { Client } from '../keys/keys.ts';
import { createDeniedSubjects } from './denied-subjects.ts';
import { fetchKeys } from './fetch-keys.ts';
import { type Claims, findRule, type Issuer, listMissingScopes, SUBJECT } from './issuer.ts';
import { IssuerKeys } from './issuer-keys.ts';
import { nameKey, readKeySet } from './key-set.ts';
import type { OwnConsent, OwnIssuer } from './own-issuer.ts';
import { isTokenForm, readToken } from './read-token.ts';

/** Maximum number of verified tokens in memory: about 10 MB. With more, a call may cost one verification. */
const VERIFIED_MAX = 10_000;
/** Accepted types. Tokens for other purposes, such as `logout+jwt`, must not be accepted (RFC 8725 3.11). */
const TYPES = new Set(['jwt', 'at+jwt', 'application/jwt', 'application/at+jwt']);
/** Maximum number of keys that are tried for a token that names none. Anyone can send such tokens. */
const KEYS_TRIED_MAX = 5;
/** Maximum length of a part of an unverified token in the log. */
const SHOWN_LENGTH_MAX = 200;

export interface TokensOptions {
  issuers: readonly Issuer[];
  /** The proxy as an issuer; null: it issues no tokens. */
  own: OwnIssuer | null;
  egress: EgressDispatcher;
  store: Parameters<typeof createDeniedSubjects>[0];
  /** Milliseconds since 1970. */
  clock: () => number;
  /** A monotonic clock in milliseconds. */
  nowMs: () => number;
  /** Called when the keys of an issuer could not be read. */
  onFailure: (issuer: string, error: unknown) => void;
}

export interface Tokens {
  /** Returns clients that authenticate a text in the form of a token here, and any other text with `keys`. */
  joinTo(keys: Clients): Clients;
  /** Rejects if the store fails. */
  authenticate(text: string): Promise<Client | RefusedToken>;
  /** Null if the client was not authenticated by a token. */
  renew(client: Client): Promise<Client | RefusedToken> | null;
  /** Reads the keys of all issuers, so that the first token need not wait. Never rejects. */
  readKeys(): Promise<void>;
  /** Each issuer, with the reason why its keys could not be read the last time; null if they could. */
  states(): { issuer: string; failure: string | null }[];
  close(): void;
}

/** An issuer with its keys. */
interface KnownIssuer {
  readonly issuer: Issuer;
  readonly keys: IssuerKeys;
  /** The proxy itself; null: it is another issuer. */
  readonly own: OwnIssuer | null;
}

/** A client whose token was verified, and the issuer and key on which its validity depends. */
interface TokenClient extends Client {
  readonly token: {
    readonly from: KnownIssuer;
    readonly signedBy: string;
    /** The consent by which the proxy has issued it; null: another issuer has. */
    readonly consent: OwnConsent | null;
  };
}

export function createTokens(options: TokensOptions): Tokens {
  const { issuers, own, egress, store, clock, nowMs, onFailure } = options;
  const denied = createDeniedSubjects(store);
  const known = new Map(
    issuers.map((issuer): [string, KnownIssuer] => {
      const keys = new IssuerKeys({
        fetch: () => fetchKeys(issuer, egress),
        nowMs,
        onFailure: (error) => onFailure(issuer.name, error),
      });
      return [issuer.url, { issuer, keys, own: null }];
    }),
  );
  const ownKeys = new IssuerKeys({
    fetch: async () => readKeySet(Buffer.from(JSON.stringify(await own!.publishKeys()))),
    nowMs,
    onFailure: (error) => onFailure(OWN_NAME, error),
  });
  /** The proxy as the issuer of tokens for the persons of each provider, by its name. */
  const ownIssuers = new Map(
    [...(own?.issuers ?? [])].map(([name, issuer]): [string, KnownIssuer] => [
      name,
      { issuer, keys: ownKeys, own },
    ]),
  );
  /** The clients of verified tokens, by the SHA-256 of the token, so that no usable token stays in memory. */
  const verified = new LRUCache<string, TokenClient>(atMost(VERIFIED_MAX));
  const verifications = new SingleFlight<Client | RefusedToken>();

  async function authenticate(text: string): Promise<Client | RefusedToken> {
    const textHash = hash('sha256', text, 'base64url');
    const client = verified.get(textHash);
    const verifyOnce = () => verifications.run(textHash, () => verify(text, textHash));
    if (client === undefined) return await verifyOnce();
    await client.token.from.keys.prepare();
    const checked = await check(client);
    if (checked !== null) return checked;
    verified.delete(textHash);
    return await verifyOnce();
  }

  function renew(client: Client): Promise<Client | RefusedToken> | null {
    return isTokenClient(client) ? renewToken(client) : null;
  }

  async function renewToken(client: TokenClient): Promise<Client | RefusedToken> {
    return (
      (await check(client)) ??
      refuse(
        'revoked',
        'its signing key was withdrawn, or the claims of its person have changed',
        client.key.id,
      )
    );
  }

  /**
   * Checks a verified client again. Null if the token must be verified again: the key that signed it is no longer among
   * the keys of the issuer, or the claims of its consent have changed.
   */
  async function check(client: TokenClient): Promise<Client | RefusedToken | null> {
    const { key, token } = client;
    if (clock() >= key.expiresAt!) return refuse('expired', 'it has expired', key.id);
    const { current } = token.from.keys;
    if (current === null) return refuseAway(token.from);
    if (!current.has(token.signedBy)) return null;
    if (token.consent !== null) {
      const consent = await token.from.own!.findConsent(token.consent.id);
      if (consent === null) return refuse('revoked', CONSENT_ENDED, key.id);
      if (!hasSameClaims(consent, token.consent)) return null;
    }
    return await checkSubject(client);
  }

  function findIssuer({ iss, provider }: Claims): KnownIssuer | undefined {
    if (own !== null && iss === own.url)
      return typeof provider === 'string' ? ownIssuers.get(provider) : undefined;
    return typeof iss === 'string' ? known.get(iss) : undefined;
  }

  async function checkSubject(client: TokenClient): Promise<Client | RefusedToken> {
    const { id } = client.key;
    return (await denied.isDenied(id)) ? refuse('revoked', 'its subject is denied', id) : client;
  }

  async function verify(text: string, textHash: string): Promise<Client | RefusedToken> {
    const token = readToken(text);
    if (token === null) return refuse('invalid', 'not a JSON Web Token');
    const from = findIssuer(token.claims);
    if (from === undefined)
      return refuse('invalid', `auth.issuers does not have its issuer ${show(token.claims['iss'])}`);
    const wrong = findHeaderError(token.header);
    if (wrong !== null) return refuse('invalid', wrong);
    const client = await verifySigned(text, from).catch((error: unknown) => explainFailure(error, from));
    if ('refused' in client) return client;
    verified.set(textHash, client);
    return await checkSubject(client);
  }

  /** Rejects with an error of jose, or a {@link KeysAwayError}. */
  async function verifySigned(text: string, from: KnownIssuer): Promise<TokenClient | RefusedToken> {
    const { issuer } = from;
    const now = clock();
    const { payload, key } = await verifyWithNewKeys(text, from, {
      issuer: issuer.url,
      audience: [...issuer.audience],
      algorithms: [...issuer.algorithms],
      clockTolerance: issuer.clockSkewSeconds,
      currentDate: new Date(now),
      requiredClaims: ['sub', 'exp'],
    });
    const id = nameClient(issuer, payload);
    if (id === null) return refuse('invalid', 'its `sub` is not 1 to 255 printable ASCII characters');
    const wrong = findClaimError(payload, issuer, now);
    if (wrong !== null) return refuse('invalid', wrong, id);
    const missing = listMissingScopes(issuer, payload);
    if (missing.length > 0) {
      return {
        ...refuse('insufficient_scope', `lacks the scopes ${missing.join(' ')}`, id),
        scopes: issuer.scopes,
      };
    }
    const consent = from.own === null ? null : await findConsent(payload, id, from.own);
    if (consent !== null && 'refused' in consent) return consent;
    const rule = findRule(issuer.rules, consent?.claims ?? payload);
    if (rule === null) return refuse('no_policy', 'no rule of its issuer matches', id);
    const { policy } = rule;
    return {
      key: {
        id,
        clientId: id,
        name: id,
        person: id,
        policy: policy.text,
        createdAt: (payload.iat ?? 0) * 1000,
        createdBy: null,
        expiresAt: (payload.exp! + issuer.clockSkewSeconds) * 1000,
        revokedAt: null,
        lastUsedAt: null,
        replaces: null,
        // Tokens of one subject can have different policies, which the version tells apart.
        version: issuer.rules.indexOf(rule) + 1,
      },
      policy: policy.compiled,
      ...(consent === null ? null : { scopes: readScopes(payload) }),
      token: { from, signedBy: await nameKey(key), consent },
    };
  }

  return {
    authenticate,
    renew,
    joinTo: (keys) => ({
      authenticate: (text) =>
        text !== undefined && isTokenForm(text) ? authenticate(text) : keys.authenticate(text),
      renew: (client) => renew(client) ?? keys.renew(client),
    }),
    async readKeys() {
      const keys = [...[...known.values()].map((issuer) => issuer.keys), ...(own === null ? [] : [ownKeys])];
      await Promise.all(keys.map((one) => one.refresh()));
    },
    states: () =>
      [...known.values()].map(({ issuer, keys }) => ({ issuer: issuer.name, failure: keys.failure })),
    close: () => denied.close(),
  };
}

/** Name of the proxy as an issuer, for the log. */
const OWN_NAME = 'this proxy';
const CONSENT_ENDED = 'the consent to its application has ended';

/** The consent by which the proxy has issued the token. */
async function findConsent(
  payload: JWTPayload,
  id: string,
  { findConsent: find }: OwnIssuer,
): Promise<OwnConsent | RefusedToken> {
  const consent = typeof payload['consent'] === 'string' ? await find(payload['consent']) : null;
  return consent?.person === id ? consent : refuse('revoked', CONSENT_ENDED, id);
}

function hasSameClaims(consent: OwnConsent, other: OwnConsent): boolean {
  if (consent.confirmedAt === other.confirmedAt) return true;
  return JSON.stringify(consent.claims) === JSON.stringify(other.claims);
}

function readScopes({ scope }: JWTPayload): string[] {
  return typeof scope === 'string' ? scope.split(' ') : [];
}

/** No keys of the issuer are usable. */
class KeysAwayError extends Error {
  override readonly name = 'KeysAwayError';
}

/** Reads the keys again if the signature is wrong: an issuer that does not name its keys may have replaced them. */
async function verifyWithNewKeys(text: string, from: KnownIssuer, options: JWTVerifyOptions) {
  const { keys } = from;
  const before = keys.current;
  try {
    return await verifyWithKnownKeys(text, from, options);
  } catch (error) {
    if (!(error instanceof errors.JWSSignatureVerificationFailed)) throw error;
    if (keys.current === before) await keys.refresh();
    if (keys.current === before) throw error;
    return await verifyWithKnownKeys(text, from, options);
  }
}

/**
 * If the token names no key, tries each suitable one: `kid` is optional (RFC 7515 section 4.1.4), and an issuer has two
 * keys while it replaces one. If too many keys are suitable, none is tried, so that their order has no effect.
 */
async function verifyWithKnownKeys(text: string, from: KnownIssuer, options: JWTVerifyOptions) {
  try {
    return await jwtVerify(text, findKey(from), options);
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
    const fitting = [];
    for await (const key of error) fitting.push(key);
    if (fitting.length > KEYS_TRIED_MAX) throw error;
    for (const key of fitting) {
      try {
        return { ...(await jwtVerify(text, key, options)), key };
      } catch (wrong) {
        if (!(wrong instanceof errors.JWSSignatureVerificationFailed)) throw wrong;
      }
    }
    throw new errors.JWSSignatureVerificationFailed();
  }
}

/** Finds the key of a token. Reads the keys again if the token names an unknown one. */
function findKey({ keys }: KnownIssuer): JWTVerifyGetKey {
  return async (header, token) => {
    await keys.prepare();
    const { current } = keys;
    if (current === null) throw new KeysAwayError();
    try {
      return await current.find(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      await keys.refresh();
      return (keys.current ?? current).find(header, token);
    }
  };
}

/** The error of a header, before a key is looked up; null if there is none. jose checks the algorithm. */
function findHeaderError({ typ, crit, kid }: Claims): string | null {
  if (crit !== undefined) return 'its header has `crit`, and no extension is known';
  if (kid !== undefined && typeof kid !== 'string') return 'its `kid` is not a text';
  if (typ === undefined || (typeof typ === 'string' && TYPES.has(typ.toLowerCase()))) return null;
  return `its type ${show(typ)} is not that of an access token`;
}

/** The error of signed claims that jose does not check; null if there is none. */
function findClaimError({ exp, iat, cnf }: JWTPayload, issuer: Issuer, now: number): string | null {
  if (cnf !== undefined) return 'it is bound to a key of its client (`cnf`), which cannot be checked';
  if (iat !== undefined && (typeof iat !== 'number' || iat * 1000 > now + issuer.clockSkewSeconds * 1000)) {
    return 'its `iat` is in the future';
  }
  const lifetime = exp! - (iat ?? now / 1000);
  if (lifetime <= issuer.maxLifetimeSeconds) return null;
  return `it is valid for longer than maxLifetimeSeconds, ${issuer.maxLifetimeSeconds}`;
}

/** Null if the subject is missing or not printable. The name of an issuer has no `/`, so no two pairs give one id. */
function nameClient({ name }: Issuer, { sub }: JWTPayload): string | null {
  return typeof sub === 'string' && SUBJECT.test(sub) ? `${name}/${sub}` : null;
}

function explainFailure(error: unknown, from: KnownIssuer): RefusedToken {
  if (error instanceof KeysAwayError) return refuseAway(from);
  // The signature was verified before the claims, so the subject of an expired token can be trusted.
  if (error instanceof errors.JWTExpired) {
    return refuse('expired', 'it has expired', nameClient(from.issuer, error.payload));
  }
  if (error instanceof errors.JWTClaimValidationFailed) {
    const { claim, reason, payload } = error;
    return refuse('invalid', `its claim ${claim} is wrong (${reason})`, nameClient(from.issuer, payload));
  }
  return refuse('invalid', error instanceof errors.JOSEError ? error.code : String(error));
}

function refuseAway({ issuer, keys }: KnownIssuer): RefusedToken {
  return refuse('keys_away', `the keys of ${issuer.name} cannot be read: ${keys.failure ?? 'not yet'}`);
}

function refuse(why: RefusedToken['why'], detail: string, keyId: string | null = null): RefusedToken {
  return { refused: 'token', why, keyId, detail, scopes: [] };
}

function isTokenClient(client: Client): client is TokenClient {
  return 'token' in client;
}

/** Prints a value of an unverified token for the log. */
function show(value: unknown): string {
  return cutText(JSON.stringify(value) ?? 'none', SHOWN_LENGTH_MAX);
}
