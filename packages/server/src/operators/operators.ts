/**
 * Operators: persons who sign in to the console by an identity provider. A session is in a sealed cookie, so that every
 * replica accepts it, with what the provider said. After some time the provider is asked again. Does not know HTTP.
 */
import { hash, randomUUID } from 'node:crypto';
import { delay, SingleFlight } from '@erp-proxy/async/tasks';
import type { Role } from '@erp-proxy/contract';
import type { Vault } from '../instances/vault.ts';
import type { IdempotencyStore } from '../stores/ports/idempotency.ts';
import { createDeniedSubjects } from '../tokens/denied-subjects.ts';
import { type ClaimRule, findRule } from '../tokens/issuer.ts';
import type { OperatorProvider } from './parse-operators.ts';
import type { Confirmed, Provider, SignInChecks } from './provider.ts';
import { ProviderError } from './provider-error.ts';

/** The length of a working day. After it, a person signs in again. */
const LIFE_MS = 8 * 3_600_000;
/** Time for a person to sign in at the provider. */
export const SIGN_IN_MS = 600_000;
/** How long a used answer of the provider, or an end, is remembered beyond that: the clocks of replicas differ. */
const USED_MARGIN_MS = 3_600_000;
/** Longer than the requests to the provider take. If a process dies meanwhile, another one asks after this time. */
const ASKING_MS = 60_000;
/** Time for which requests with the earlier cookie get the new one. */
const KEPT_MS = 600_000;
const POLL_MS = 200;
/** Browsers keep cookies of up to 4096 bytes, with their name and attributes. */
const VALUE_LENGTH_MAX = 3900;

const NO_RULE = 'no rule of operators.rules matches, and none of the same provider in auth.issuers';

/** A session, as its cookie has it. Times are in milliseconds since 1970. */
export interface OperatorSession {
  /** Null: a person who administers nothing, and has connections to Odoo of their own. */
  readonly role: Role | null;
  /** `<name of the provider>/<subject>` */
  readonly id: string;
  readonly name: string;
  /** Unique for the sign-in. */
  readonly session: string;
  /** When the provider must be asked again. */
  readonly askAt: number;
  readonly endsAt: number;
  readonly refreshToken: string | null;
}

interface SignIn extends SignInChecks {
  returnTo: string;
  endsAt: number;
}

export type SignInFault = 'denied' | 'no_role' | 'failed' | 'expired' | 'away';

export type SignInOutcome =
  | { session: OperatorSession; value: string; returnTo: string }
  | { fault: SignInFault };

/** A valid session. `value`: a new value of the cookie; null: it stays. */
export interface FoundSession {
  session: OperatorSession;
  value: string | null;
}

/** Methods reject if the store fails, or with a {@link ProviderError} whose fault is `away`. */
export interface Operators {
  /** Name of the provider. */
  readonly name: string;
  /** Returns the address at which the provider asks the person to sign in, and the cookie that belongs to it. */
  begin(returnTo: string): Promise<{ url: string; cookie: string }>;
  /** Takes the answer of the provider. `cookie` is that of {@link begin}. */
  finish(parameters: URLSearchParams, cookie: string | undefined): Promise<SignInOutcome>;
  /** The session with this cookie value; null if it has ended. */
  find(value: string): Promise<FoundSession | null>;
  /**
   * The session that its person ends; null if there is none. It is not renewed any more. Tells the provider so, without
   * waiting for it.
   */
  end(value: string): Promise<OperatorSession | null>;
  close(): void;
}

export interface OperatorsOptions {
  settings: OperatorProvider;
  /** Persons who match one of these may sign in without a role: those whose tokens are accepted for calls. */
  personRules: readonly ClaimRule[];
  provider: Provider;
  /** Address to which the provider sends the browser back. */
  redirectUri: string;
  /** Seals cookies. Its key must not be in the store: whoever has a copy of it could sign in. */
  vault: Vault;
  store: Parameters<typeof createDeniedSubjects>[0];
  /** Passes what the provider has answered to other processes. */
  idempotency: IdempotencyStore;
  /** True for the first claim of this name, over all processes that share the store. */
  claimOnce: (name: string, ttlMs: number) => Promise<boolean>;
  /** Milliseconds since 1970. */
  clock: () => number;
  /** A monotonic clock in milliseconds. */
  nowMs: () => number;
  onError: (error: unknown) => void;
  /** Called for each refused sign-in, and for each session that the provider does not confirm. For the log. */
  onRefused: (refused: { fault: SignInFault; detail: string; id: string | null }) => void;
}

export function createOperators(options: OperatorsOptions): Operators {
  const {
    settings,
    personRules,
    provider,
    redirectUri,
    vault,
    store,
    idempotency,
    claimOnce,
    clock,
    nowMs,
    onError,
    onRefused,
  } = options;
  const denied = createDeniedSubjects(store);
  const renewals = new SingleFlight<string | null>();
  const sessionSeal = `session of an operator v1 ${settings.version}`;
  const signInSeal = `sign-in of an operator v1 ${settings.version}`;

  function open<Value>(sealed: string, boundTo: string): Value | null {
    try {
      return JSON.parse(vault.open(sealed, boundTo)) as Value;
    } catch {
      return null;
    }
  }

  /** Null if no rule matches. */
  function startSession(
    { subject, name, claims, refreshToken }: Confirmed,
    { session, endsAt }: Pick<OperatorSession, 'session' | 'endsAt'>,
  ): { session: OperatorSession; value: string } | null {
    const role = findRule(settings.rules, claims)?.role ?? null;
    if (role === null && findRule(personRules, claims) === null) return null;
    const askAt = Math.min(clock() + settings.sessionMs, endsAt);
    const id = `${settings.name}/${subject}`;
    const started = { id, name, role, session, askAt };
    const whole: OperatorSession = {
      ...started,
      endsAt: refreshToken === null ? askAt : endsAt,
      refreshToken,
    };
    const value = vault.seal(JSON.stringify(whole), sessionSeal);
    if (value.length <= VALUE_LENGTH_MAX) return { session: whole, value };
    // Without its refresh token, the session ends when the provider would be asked.
    onError(
      new Error('The refresh token of the provider is too long for a cookie, so sessions cannot be renewed.'),
    );
    const short: OperatorSession = { ...started, endsAt: askAt, refreshToken: null };
    return { session: short, value: vault.seal(JSON.stringify(short), sessionSeal) };
  }

  async function finish(parameters: URLSearchParams, cookie: string | undefined): Promise<SignInOutcome> {
    const signIn = cookie === undefined ? null : open<SignIn>(cookie, signInSeal);
    const fail = (fault: SignInFault, detail: string, id: string | null = null) => {
      onRefused({ fault, detail, id });
      return { fault };
    };
    if (signIn === null) return fail('expired', 'this browser has begun no sign-in');
    if (clock() >= signIn.endsAt) return fail('expired', 'the sign-in took too long');
    if (parameters.get('state') !== signIn.state) {
      return fail('expired', 'the answer belongs to another sign-in of this browser');
    }
    const isFirst = await claimOnce(`operator ${signIn.state}`, SIGN_IN_MS + USED_MARGIN_MS);
    if (!isFirst) return fail('expired', 'the answer of the provider was used before');
    let person: Confirmed;
    try {
      person = await provider.finish(new URL(`${redirectUri}?${parameters}`), signIn);
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error;
      return fail(error.fault === 'refused' ? 'failed' : error.fault, error.message);
    }
    const id = `${settings.name}/${person.subject}`;
    if (await denied.isDenied(id)) return fail('no_role', 'its subject is denied', id);
    const started = startSession(person, { session: randomUUID(), endsAt: clock() + LIFE_MS });
    if (started === null) return fail('no_role', NO_RULE, id);
    return { ...started, returnTo: signIn.returnTo };
  }

  /**
   * Asks the provider whether a person may go on. Returns the new value of the cookie; null: the session has ended.
   * One process asks, and the others take its result: many providers accept a refresh token once.
   */
  async function renew(session: OperatorSession): Promise<string | null> {
    if ((await idempotency.find(nameEnd(session))) !== null) return null;
    const id = hash('sha256', `operator session ${session.session} ${session.askAt}`, 'base64url');
    const attempt = randomUUID();
    const beganAt = nowMs();
    for (;;) {
      const row = await idempotency.claim({
        id,
        client: session.id,
        fingerprint: 'operator session',
        attempt,
        runsForMs: ASKING_MS,
        expiresInMs: ASKING_MS,
      });
      if (row === null) return await ask(session, id, attempt);
      if (row.state === 'done') {
        return row.answer?.length ? vault.open(Buffer.from(row.answer).toString(), id) : null;
      }
      if (nowMs() - beganAt > ASKING_MS)
        throw new ProviderError('away', 'another process still asks the provider');
      await delay(POLL_MS);
    }
  }

  async function ask(session: OperatorSession, id: string, attempt: string): Promise<string | null> {
    let value: string | null;
    try {
      const person = await provider.askAgain(session.refreshToken!);
      const isSame = `${settings.name}/${person.subject}` === session.id;
      // Providers that do not replace the refresh token send none.
      const refreshToken = person.refreshToken ?? session.refreshToken;
      const renewed = isSame ? startSession({ ...person, refreshToken }, session) : null;
      if (renewed === null) {
        const detail = isSame ? NO_RULE : 'the provider answered for somebody else';
        onRefused({ fault: 'no_role', detail, id: session.id });
      }
      value = renewed?.value ?? null;
    } catch (error) {
      if (!(error instanceof ProviderError) || error.fault === 'away') {
        await idempotency.release(id, attempt);
        throw error;
      }
      onRefused({ fault: 'failed', detail: error.message, id: session.id });
      value = null;
    }
    // If this fails, the new cookie still goes to the person: the provider may not accept the earlier token again.
    // Sealed once more: what the store has is no cookie.
    const answer = Buffer.from(value === null ? '' : vault.seal(value, id));
    await idempotency.complete(id, attempt, answer, KEPT_MS).catch(onError);
    return value;
  }

  async function recordEnd(session: OperatorSession): Promise<void> {
    const keptMs = Math.max(session.endsAt - clock(), 0) + USED_MARGIN_MS;
    await idempotency.claim({
      id: nameEnd(session),
      client: session.id,
      fingerprint: 'end of an operator session',
      attempt: randomUUID(),
      runsForMs: keptMs,
      expiresInMs: keptMs,
    });
  }

  async function find(value: string): Promise<FoundSession | null> {
    const session = open<OperatorSession>(value, sessionSeal);
    const now = clock();
    if (session === null || now >= session.endsAt || (await denied.isDenied(session.id))) return null;
    if (now < session.askAt) return { session, value: null };
    const renewed = await renewals.run(hash('sha256', value, 'base64url'), () => renew(session));
    if (renewed === null) return null;
    const next = open<OperatorSession>(renewed, sessionSeal);
    return next && { session: next, value: renewed };
  }

  return {
    name: settings.name,
    async begin(returnTo) {
      const { url, checks } = await provider.begin(redirectUri);
      const signIn: SignIn = { ...checks, returnTo, endsAt: clock() + SIGN_IN_MS };
      return { url, cookie: vault.seal(JSON.stringify(signIn), signInSeal) };
    },
    finish,
    find,
    async end(value) {
      const session = open<OperatorSession>(value, sessionSeal);
      if (session === null || session.refreshToken === null) return session;
      provider.revoke(session.refreshToken).catch(onError);
      // Not all providers can take a refresh token back, and a copy of the cookie has it.
      await recordEnd(session).catch(onError);
      return session;
    },
    close: () => denied.close(),
  };
}

/** Id of the record that a person has ended the session. */
function nameEnd({ session }: OperatorSession): string {
  return hash('sha256', `end of the operator session ${session}`, 'base64url');
}
