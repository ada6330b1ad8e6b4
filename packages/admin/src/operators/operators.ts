/**
 * Operators: persons who sign in by an identity provider, to the console or to the command line. A session is a sealed
 * value with what the provider said, so that every replica accepts it. After some time the provider is asked again.
 * Does not know HTTP.
 */
import { hash, randomBytes, randomUUID } from 'node:crypto';
import { delay, SingleFlight } from '@erp-proxy/async/tasks';
import { ROLES, type Role } from '@erp-proxy/contract';
import type { Vault } from '@erp-proxy/control/instances';
import { createDeniedSubjects } from '@erp-proxy/control/tokens';
import { type ClaimRule, findRule, listRules } from '@erp-proxy/control/tokens/issuers';
import type { IdempotencyStore, OperatorStore } from '@erp-proxy/stores/ports';
import { printKnownClaims } from './known-claims.ts';
import type { Grant, OperatorProvider } from './parse-operators.ts';
import type { Confirmed, Provider, SignInChecks } from './provider.ts';
import { ProviderError } from './provider-error.ts';

/** The length of a working day. After it, a person signs in again. */
const LIFE_MS = 8 * 3_600_000;
/** Time for a person to sign in at the provider. */
export const SIGN_IN_MS = 600_000;
/** Time for a program to take its session. */
const HANDOVER_MS = 120_000;
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

/** A session, as its value has it. Times are in milliseconds since 1970. */
interface Session {
  /** `<name of the provider>/<subject>` */
  readonly id: string;
  readonly name: string;
  /** Unique for the sign-in. */
  readonly session: string;
  /** Id of the session at the provider; null: the provider gives none. */
  readonly providerSession: string | null;
  readonly startedAt: number;
  /** When the provider must be asked again. */
  readonly askAt: number;
  readonly endsAt: number;
  readonly refreshToken: string | null;
  /**
   * Number of the rule that decides. The seal is bound to the rules. Null: no rule gives a role, and a person may sign
   * in for connections to Odoo of their own.
   */
  readonly rule: number | null;
  /** Roles of further rules that match. */
  readonly otherRoles: readonly Role[];
}

/** A session, with what its rule gives: null and no instances without a rule. */
export interface OperatorSession extends Session, Omit<Grant, 'role'> {
  readonly role: Role | null;
}

const NO_GRANT = { role: null, instances: [] } as const;

interface SignIn extends SignInChecks {
  returnTo: ReturnTo;
  endsAt: number;
}

/**
 * Where a sign-in ends: at a page of the console, given by its path, at a program on the machine of the browser, or at
 * the question whether an application may act as the person.
 */
export type ReturnTo = string | WaitingProgram | WaitingApplication;

/** An application for which a person signs in. */
export interface WaitingApplication {
  /** Id of the sign-in at the authorization server of the proxy. */
  readonly application: string;
}

/** A program that waits for a person to sign in (RFC 8252). */
export interface WaitingProgram {
  /** Its port at 127.0.0.1. */
  readonly port: number;
  /** SHA-256 of its proof, in base64url (RFC 7636). */
  readonly challenge: string;
}

export type SignInFault = 'denied' | 'no_role' | 'failed' | 'expired' | 'away';

/** `returnTo` is null if the sign-in is not known. */
export type SignInOutcome =
  | { session: OperatorSession; value: string; returnTo: string | WaitingProgram }
  | { person: ConfirmedPerson; returnTo: WaitingApplication }
  | { fault: SignInFault; returnTo: ReturnTo | null };

/** A person whom the provider has just confirmed, without a session. */
export interface ConfirmedPerson extends Pick<Confirmed, 'name' | 'claims' | 'refreshToken'> {
  /** `<name of the provider>/<subject>` */
  readonly id: string;
  /** Hash of the session at the provider; null: not known. */
  readonly providerSession: string | null;
  /** When the provider must be asked again. */
  readonly askAt: number;
}

/** A valid session. `value`: its new value; null: it stays. */
export interface FoundSession {
  session: OperatorSession;
  value: string | null;
}

/** Methods reject if the store fails, or with a {@link ProviderError} whose fault is `away`. */
export interface Operators {
  /** Name of the provider. */
  readonly name: string;
  /** Returns the address at which the provider asks the person to sign in, and the cookie that belongs to it. */
  begin(returnTo: ReturnTo): Promise<{ url: string; cookie: string }>;
  /** Takes the answer of the provider. `cookie` is that of {@link begin}. */
  finish(parameters: URLSearchParams, cookie: string | undefined): Promise<SignInOutcome>;
  /** Stores the value of a session for a program. Returns the code by which the program takes it once. */
  handOver(value: string, program: WaitingProgram): Promise<string>;
  /** The value of the session; null if the code is unknown, old or used, or belongs to another proof. */
  takeOver(code: string, proof: string): Promise<string | null>;
  /** The session with this value; null if it has ended. */
  find(value: string): Promise<FoundSession | null>;
  /** Asks the provider whether a person without a session may go on. Rejects with a {@link ProviderError}. */
  askAgain(refreshToken: string): Promise<ConfirmedPerson>;
  /**
   * The session that its person ends; null if there is none. It is not renewed any more. Tells the provider so, without
   * waiting for it.
   */
  end(value: string): Promise<OperatorSession | null>;
  /**
   * Takes a logout token of the provider (OpenID Connect Back-Channel Logout), and ends the session that it names, or
   * all sessions of its person. Rejects with a {@link ProviderError} for another token.
   */
  endByProvider(logoutToken: string): Promise<void>;
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
  store: Parameters<typeof createDeniedSubjects>[0] & { readonly operators: OperatorStore };
  /** Passes what the provider has answered to other processes. */
  idempotency: IdempotencyStore;
  /** True for the first claim of this name, over all processes that share the store. */
  claimOnce: (name: string, ttlMs: number) => Promise<boolean>;
  /** Milliseconds since 1970. */
  clock: () => number;
  /** A monotonic clock in milliseconds. */
  nowMs: () => number;
  onError: (error: unknown) => void;
  /** Ends what persons have allowed applications: of a person, or of a session at the provider. */
  endConsents: (whose: { person: string } | { providerSession: string }) => Promise<void>;
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
    endConsents,
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

  /** The session with this value; null if the value is not one. */
  function openSession(value: string): OperatorSession | null {
    const session = open<Session>(value, sessionSeal);
    if (session === null) return null;
    const { role, instances } = session.rule === null ? NO_GRANT : settings.rules[session.rule]!;
    return { ...session, role, instances };
  }

  /** Null if no rule matches. Records what the provider has confirmed. */
  async function startSession(
    { subject, name, claims, refreshToken, providerSession }: Confirmed,
    { session, startedAt, endsAt }: Pick<OperatorSession, 'session' | 'startedAt' | 'endsAt'>,
  ): Promise<{ session: OperatorSession; value: string } | null> {
    const [rule, ...others] = listRules(settings.rules, claims);
    const id = `${settings.name}/${subject}`;
    if (rule === undefined && findRule(personRules, claims) === null) {
      await store.operators.withdraw(id);
      return null;
    }
    const { role, instances } = rule ?? NO_GRANT;
    await store.operators.confirm({
      id,
      name,
      granted: printKnownClaims(settings, claims),
      confirmedAt: clock(),
    });
    const otherRoles = ROLES.filter((it) => it !== role && others.some((other) => other.role === it));
    const askAt = Math.min(clock() + settings.sessionMs, endsAt);
    const ruleNumber = rule === undefined ? null : settings.rules.indexOf(rule);
    const started = { id, name, session, providerSession, startedAt, askAt, rule: ruleNumber, otherRoles };
    const whole: Session = {
      ...started,
      endsAt: refreshToken === null ? askAt : endsAt,
      refreshToken,
    };
    const value = vault.seal(JSON.stringify(whole), sessionSeal);
    if (value.length <= VALUE_LENGTH_MAX) return { session: { ...whole, role, instances }, value };
    // Without its refresh token, the session ends when the provider would be asked.
    onError(
      new Error('The refresh token of the provider is too long for a cookie, so sessions cannot be renewed.'),
    );
    const short: Session = { ...started, endsAt: askAt, refreshToken: null };
    const shortValue = vault.seal(JSON.stringify(short), sessionSeal);
    return { session: { ...short, role, instances }, value: shortValue };
  }

  async function finish(parameters: URLSearchParams, cookie: string | undefined): Promise<SignInOutcome> {
    const signIn = cookie === undefined ? null : open<SignIn>(cookie, signInSeal);
    const fail = (fault: SignInFault, detail: string, id: string | null = null) => {
      onRefused({ fault, detail, id });
      return { fault, returnTo: signIn?.returnTo ?? null };
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
    const { returnTo } = signIn;
    if (typeof returnTo === 'object' && 'application' in returnTo)
      return { person: describePerson(person), returnTo };
    const startedAt = clock();
    const started = await startSession(person, {
      session: randomUUID(),
      startedAt,
      endsAt: startedAt + LIFE_MS,
    });
    if (started === null) return fail('no_role', NO_RULE, id);
    return { ...started, returnTo };
  }

  function describePerson({
    subject,
    name,
    claims,
    refreshToken,
    providerSession,
  }: Confirmed): ConfirmedPerson {
    return {
      id: `${settings.name}/${subject}`,
      name,
      claims,
      refreshToken,
      providerSession: providerSession && nameProviderSession(providerSession),
      askAt: clock() + settings.sessionMs,
    };
  }

  /**
   * Asks the provider whether a person may go on. Returns the new value of the cookie; null: the session has ended.
   * One process asks, and the others take its result: many providers accept a refresh token once.
   */
  async function renew(session: OperatorSession): Promise<string | null> {
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
      // Not all providers name their session again.
      const providerSession = person.providerSession ?? session.providerSession;
      const renewed = isSame
        ? await startSession({ ...person, refreshToken, providerSession }, session)
        : null;
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

  const recordEnd = (session: string, endsAt: number) =>
    store.operators.endSession({ session, keptUntil: endsAt + USED_MARGIN_MS, now: clock() });

  /** Looks all ends up for each request: what has ended must not work, and requests to the admin API are few. */
  async function hasEnded({ id, session, providerSession, startedAt }: OperatorSession): Promise<boolean> {
    const ends = [session, ...(providerSession === null ? [] : [nameProviderSession(providerSession)])];
    const [isDenied, isEnded, person] = await Promise.all([
      denied.isDenied(id),
      store.operators.hasEnded(ends),
      store.operators.find(id),
    ]);
    return isDenied || isEnded || person?.granted == null || startedAt <= person.endedUntil;
  }

  async function find(value: string): Promise<FoundSession | null> {
    const session = openSession(value);
    const now = clock();
    if (session === null || now >= session.endsAt || (await hasEnded(session))) return null;
    if (now < session.askAt) return { session, value: null };
    const renewed = await renewals.run(hash('sha256', value, 'base64url'), () => renew(session));
    if (renewed === null) return null;
    const next = openSession(renewed);
    return next && { session: next, value: renewed };
  }

  /** Also of a person who is not recorded: a sign-in for an application may wait for their answer. */
  async function endSessionsOf(person: string, name: string): Promise<void> {
    const now = clock();
    if (await store.operators.endSessions(person, now)) return;
    await store.operators.confirm({ id: person, name, granted: null, confirmedAt: now });
    await store.operators.endSessions(person, now);
  }

  return {
    name: settings.name,
    async begin(returnTo) {
      const { url, checks } = await provider.begin(redirectUri);
      const signIn: SignIn = { ...checks, returnTo, endsAt: clock() + SIGN_IN_MS };
      return { url, cookie: vault.seal(JSON.stringify(signIn), signInSeal) };
    },
    finish,

    async handOver(value, { challenge }) {
      const code = randomBytes(32).toString('base64url');
      const id = nameHandover(code);
      const attempt = randomUUID();
      const expiresInMs = HANDOVER_MS;
      await idempotency.claim({
        id,
        client: '',
        fingerprint: 'handover of an operator session',
        attempt,
        runsForMs: expiresInMs,
        expiresInMs,
      });
      const answer = Buffer.from(vault.seal(JSON.stringify({ value, challenge }), id));
      await idempotency.complete(id, attempt, answer, expiresInMs);
      return code;
    },

    async takeOver(code, proof) {
      const id = nameHandover(code);
      const row = await idempotency.find(id);
      if (!row?.answer) return null;
      const stored = open<{ value: string; challenge: string }>(Buffer.from(row.answer).toString(), id);
      if (stored?.challenge !== hash('sha256', proof, 'base64url')) return null;
      return (await claimOnce(id, HANDOVER_MS + USED_MARGIN_MS)) ? stored.value : null;
    },

    find,
    askAgain: async (refreshToken) => describePerson(await provider.askAgain(refreshToken)),
    async end(value) {
      const session = openSession(value);
      if (session === null) return null;
      if (session.refreshToken !== null) provider.revoke(session.refreshToken).catch(onError);
      // A copy of the value must not work either.
      await recordEnd(session.session, session.endsAt);
      return session;
    },

    async endByProvider(text) {
      const { subject, providerSession, id, acceptedForMs } = await provider.readLogout(text);
      if (!(await claimOnce(`logout ${hash('sha256', id, 'base64url')}`, acceptedForMs + USED_MARGIN_MS)))
        return;
      if (providerSession !== null) {
        const name = nameProviderSession(providerSession);
        await Promise.all([recordEnd(name, clock() + LIFE_MS), endConsents({ providerSession: name })]);
      } else {
        const person = `${settings.name}/${subject}`;
        await Promise.all([endSessionsOf(person, subject ?? ''), endConsents({ person })]);
      }
    },
    close: () => denied.close(),
  };
}

function nameHandover(code: string): string {
  return hash('sha256', `handover of an operator session ${code}`, 'base64url');
}

/** Hashed: the provider may use any text, and its id must not be that of another session. */
function nameProviderSession(providerSession: string): string {
  return hash('sha256', `session at the provider ${providerSession}`, 'base64url');
}
