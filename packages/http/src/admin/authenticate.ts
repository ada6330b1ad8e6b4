/**
 * Authenticates requests to the admin API: by the admin token, by a personal token, or by a session. A session is
 * started with the admin token, with a sign-in link or by an identity provider. A browser sends its cookie with any
 * request to the proxy. So a request that makes a change must also come from the proxy's own pages.
 */

import { hash, randomUUID, timingSafeEqual } from 'node:crypto';
import type { Identity } from '@erp-proxy/admin';
import { AdminError, createAdminError, describeProblem, toAdminError } from '@erp-proxy/admin/errors';
import type { Operators } from '@erp-proxy/admin/operators';
import { createSignInCodes } from '@erp-proxy/admin/sign-in-codes';
import { atMost, delay } from '@erp-proxy/async/tasks';
import type { SignInView } from '@erp-proxy/contract';
import { type ActorView, nameActor } from '@erp-proxy/contract';
import { NOBODY, SESSION_ACTOR, TOKEN_ACTOR } from '@erp-proxy/control/audit';
import type { Slowdown } from '@erp-proxy/control/keys';
import { TOKEN_PREFIX } from '@erp-proxy/control/keys/format';
import {
  type OperatorTokens,
  type RefusedToken,
  readTokenInstances,
} from '@erp-proxy/control/keys/operator-tokens';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { readRequestId } from '../forwarded.ts';
import type { Authenticated, Login, LoginWay, SignedIn } from './login.ts';
import {
  type ApplicationSignIn,
  createNoProviderError,
  createOperatorSignIn,
  type OperatorSignIn,
  type SignInEnd,
} from './operator-sign-in.ts';
import {
  createSessions,
  PROGRAM_PREFIX,
  printEndOfSession,
  printSessionCookie,
  readSessionCookie,
} from './session.ts';

/** Its methods throw an AdminError to refuse a request. */
export interface Authenticator {
  identify(request: FastifyRequest, reply: FastifyReply): Promise<Authenticated>;
  /**
   * Records that somebody may not use an operation, once in an hour for each. The number of these records in a minute
   * is bounded, like that of refused logins.
   */
  recordRefused(held: ActorView, operation: string, request: FastifyRequest): void;
  /** The person who makes the request, by their session or by a token of an issuer. A role is not needed. */
  identifyPerson(request: FastifyRequest, reply: FastifyReply): Promise<ActorView>;
  /** Starts a session and sets its cookie on the answer. */
  login(given: LoginInput, request: FastifyRequest, reply: FastifyReply): Promise<Authenticated>;
  /** The ways to start a session. */
  listWays(): SignInView;
  /** For the sign-in by an identity provider. Throws an AdminError if there is none. */
  readonly provider: Pick<OperatorSignIn, 'start' | 'finish'>;
  /** Returns the session of a program, with the text that the program sends as its bearer token. */
  takeOver(
    given: { code: string; verifier: string },
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<{ person: Authenticated; session: string }>;
  /** Ends sessions as a logout token of the provider says. */
  endByProvider(logoutToken: string): Promise<void>;
  /** Ends the session of a program, or clears the cookie of the session, if there is one. */
  logout(request: FastifyRequest, reply: FastifyReply): Promise<void>;
}

/** What a person signs in with. One of the two is given. */
export interface LoginInput {
  /** The admin token. */
  token?: string;
  /** The code of a sign-in link, which works once. */
  code?: string;
}

export interface AuthenticateOptions {
  /** The setting `admin.token`, which can change; null: it is empty. */
  readToken: () => string | null;
  /** Persons who sign in by an identity provider; null: none is configured. */
  operators: Operators | null;
  /** The authorization server of the proxy; null: there is none. */
  applications: ApplicationSignIn | null;
  /** Address under which browsers reach the proxy. */
  publicUrl: string | null;
  /** The person whose token of an issuer this is; null if it is none, or is refused. Rejects if the store fails. */
  authenticateToken: (text: string) => Promise<string | null>;
  /** Personal tokens. */
  tokens: Pick<OperatorTokens, 'authenticate'>;
  /** Separate from that of client keys: a caller with a bad key must not slow an administrator down. */
  slowdown: Slowdown;
  /** Milliseconds since 1970. */
  clock: () => number;
  /**
   * Resolves to true for the first claim of this name, over all processes that share the store. The name can be claimed
   * again after `ttlMs`.
   */
  claimOnce: (name: string, ttlMs: number) => Promise<boolean>;
  recordLogin: (login: Login) => void;
  /** True if other servers use paths of the same host. */
  isHostShared: boolean;
}

/** How long a used code is remembered after its expiry, because the clocks of replicas differ. */
const USED_CODE_MARGIN_MS = 3_600_000;

/**
 * A login by a token is recorded once per address in this time, because programs send the token with each request.
 */
const LOGIN_RECORD_INTERVAL_MS = 3_600_000;
const ADDRESSES_MAX = 1000;

export function createAuthenticator({
  readToken,
  operators,
  applications,
  publicUrl,
  authenticateToken,
  tokens,
  slowdown,
  clock,
  claimOnce,
  recordLogin,
  isHostShared,
}: AuthenticateOptions): Authenticator {
  const recordedAt = new LRUCache<string, number>(atMost(ADDRESSES_MAX));
  let derived = deriveFrom(readToken());

  /** What follows from the current token. */
  function useToken(): ReturnType<typeof deriveFrom> {
    const setToken = readToken();
    if (setToken !== derived.setToken) derived = deriveFrom(setToken);
    return derived;
  }

  function deriveFrom(setToken: string | null) {
    // Without the setting, no caller knows the token.
    const token = setToken ?? randomUUID() + randomUUID();
    return {
      setToken,
      tokenHash: hash('sha256', token, 'buffer'),
      sessions: createSessions({ token, clock }),
      codes: createSignInCodes({ token, clock }),
    };
  }

  function record(
    actor: Login['actor'] & Partial<SignedIn>,
    action: Login['action'],
    way: Login['way'],
    { headers, ip: address }: FastifyRequest,
  ): void {
    const requestId = readRequestId(headers);
    const { role, instances = null, otherRoles = [] } = actor;
    const isOperator = action === 'login.person' && role != null;
    recordLogin({
      ...(isOperator ? { grant: { role, instances, otherRoles } } : null),
      actor: nameActor(actor),
      action,
      way,
      address,
      requestId,
      isRefused: action === 'login.refused' || action === 'operation.refused',
    });
  }

  /** True once in an hour for each name. */
  function isDue(name: string): boolean {
    const now = clock();
    if (Math.abs(now - (recordedAt.get(name) ?? -Infinity)) < LOGIN_RECORD_INTERVAL_MS) return false;
    recordedAt.set(name, now);
    return true;
  }

  function recordToken(actor: ActorView, request: FastifyRequest): void {
    if (isDue(`${actor.id} ${request.ip}`)) record(actor, 'login.token', 'token', request);
  }

  const isAdminToken = (given: string) =>
    timingSafeEqual(hash('sha256', given, 'buffer'), useToken().tokenHash);

  async function findTokenHolder(
    given: string,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<Authenticated> {
    if (isAdminToken(given)) return { ...TOKEN_ACTOR, role: 'admin', instances: null, expiresAt: null };
    if (!given.startsWith(TOKEN_PREFIX)) return refuseSlowly('token', NOT_THE_TOKEN, request, reply);
    const found = await authenticatePersonal(given);
    if ('refused' in found) return refuseSlowly('token', PERSONAL_REFUSALS[found.refused], request, reply);
    const { id, name, role, expiresAt } = found;
    return { type: 'token', id, name, role, instances: readTokenInstances(found), expiresAt };
  }

  async function authenticatePersonal(given: string): ReturnType<typeof tokens.authenticate> {
    try {
      return await tokens.authenticate(given);
    } catch (error) {
      throw toAdminError(error);
    }
  }

  /** Uses the code of a sign-in link. */
  async function takeCode(given: string, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const refusal = await checkCode(given);
    if (refusal !== null) await refuseSlowly('link', `${refusal} ${NEW_LINK}`, request, reply);
  }

  /** Returns why the code is refused; null if it was valid. A valid code is then used up. */
  async function checkCode(given: string): Promise<string | null> {
    const code = useToken().codes.read(given);
    if (code === null) return 'This is not a sign-in link of this proxy.';
    const leftMs = code.expiresAt - clock();
    if (leftMs <= 0) return 'This sign-in link has expired.';
    try {
      const isFirst = await claimOnce(`sign-in ${code.nonce}`, leftMs + USED_CODE_MARGIN_MS);
      return isFirst ? null : 'This sign-in link works once, and it was used.';
    } catch (cause) {
      throw new AdminError(describeProblem(503, CODE_UNCHECKED), { cause });
    }
  }

  /** Throws the refusal. Waits first if the address has failed before. */
  async function refuseSlowly(
    way: LoginWay,
    detail: string,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<never> {
    record(NOBODY, 'login.refused', way, request);
    await slowDown(request, reply);
    throw createAdminError(401, detail);
  }

  async function slowDown(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const penalty = slowdown.penalize(request.ip);
    if ('retryAfterSeconds' in penalty) {
      reply.headers({ 'retry-after': String(penalty.retryAfterSeconds), connection: 'close' });
      throw createAdminError(429, 'Too many refused logins: wait before you try again.');
    }
    if (penalty.delayMs > 0) await waitUnlessClosed(penalty.delayMs, reply);
  }

  const signIn =
    operators === null || publicUrl === null
      ? null
      : createOperatorSignIn({
          operators,
          applications,
          publicUrl,
          isHostShared,
          clock,
          record: (action, person, request) => record(person ?? NOBODY, action, 'provider', request),
          slowDown,
        });

  function requireProvider(): OperatorSignIn {
    if (signIn === null) throw createNoProviderError();
    return signIn;
  }

  const readSession = (request: FastifyRequest) =>
    readSessionCookie(request.headers.cookie, { isSecure: isSecure(request), isHostShared });

  async function findSession(value: string, reply: FastifyReply): Promise<SignedIn | null> {
    const session = useToken().sessions.find(value);
    if (session !== null) return { ...SESSION, expiresAt: session.expiresAt };
    return signIn === null ? null : await signIn.find(value, 'browser', reply);
  }

  function refuseSession(detail: string, request: FastifyRequest): never {
    record(NOBODY, 'login.refused', 'session', request);
    throw createAdminError(401, detail);
  }

  /**
   * The session of a program or of a browser. Throws an AdminError if the session has ended, or a page of another
   * server makes a change with it. `advice`: what to do without any session.
   */
  async function requireSession(
    request: FastifyRequest,
    reply: FastifyReply,
    advice: string,
  ): Promise<SignedIn> {
    const program = readProgramSession(request);
    if (program !== null) {
      const found = await signIn?.find(program, 'program', reply);
      return found ?? refuseSession('The session has ended: run `erp-proxy login` again.', request);
    }
    const value = readSession(request);
    if (value === undefined) throw createAdminError(401, advice);
    const session = await findSession(value, reply);
    if (session === null) return refuseSession('The session has ended: log in again.', request);
    if (!isSafe(request.method)) requireOwnPage(request);
    return session;
  }

  async function findTokenPerson(
    given: string,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<ActorView> {
    const found = await authenticateToken(given).catch((error: unknown) => {
      throw toAdminError(error);
    });
    if (found === null) return refuseSlowly('token', NO_PERSON_TOKEN, request, reply);
    const person: ActorView = { type: 'person', id: found, name: found };
    recordToken(person, request);
    return person;
  }

  return {
    listWays: () => ({
      token: readToken() !== null,
      provider: operators?.name ?? null,
      sign_in_url: signIn?.startUrl ?? null,
    }),
    provider: {
      start: async (end: SignInEnd, reply) => requireProvider().start(end, reply),
      finish: async (request, reply) => requireProvider().finish(request, reply),
    },

    async identify(request, reply) {
      const { authorization } = request.headers;
      if (authorization !== undefined && readProgramSession(request) === null) {
        const holder = await findTokenHolder(readBearer(authorization), request, reply);
        recordToken(holder, request);
        return holder;
      }
      return requireRole(await requireSession(request, reply, NOT_SIGNED_IN));
    },

    async identifyPerson(request, reply) {
      const { authorization } = request.headers;
      if (authorization !== undefined && readProgramSession(request) === null) {
        return findTokenPerson(readBearer(authorization), request, reply);
      }
      const session = await requireSession(request, reply, NO_PERSON_SIGNED_IN);
      if (session.type !== 'person') throw createAdminError(403, NO_PERSON);
      return nameActor(session);
    },

    recordRefused(held, operation, request) {
      if (isDue(`${held.id} may not ${operation}`)) record(held, 'operation.refused', operation, request);
    },

    endByProvider: async (logoutToken) => requireProvider().endByProvider(logoutToken),

    async takeOver({ code, verifier }, request, reply) {
      const found = await requireProvider().takeOver(code, verifier);
      if (found === null) return refuseSlowly('provider', NO_HANDOVER, request, reply);
      return { person: requireRole(found.person), session: PROGRAM_PREFIX + found.value };
    },

    async login({ token = '', code }, request, reply) {
      if (code !== undefined) await takeCode(code, request, reply);
      else if (!isAdminToken(token)) await refuseSlowly('token', NOT_THE_TOKEN, request, reply);
      const way = code === undefined ? 'token' : 'link';
      record(SESSION_ACTOR, 'login.session', way, request);
      const { value, expiresAt } = useToken().sessions.open();
      reply.header('set-cookie', printSessionCookie(value, { isSecure: isSecure(request), isHostShared }));
      return { ...SESSION, expiresAt };
    },

    async logout(request, reply) {
      const program = readProgramSession(request);
      const value = program ?? readSession(request);
      if (value !== undefined) {
        if (program === null) requireOwnPage(request);
        const person = (await signIn?.end(value)) ?? null;
        if (person !== null) record(person, 'logout.session', 'provider', request);
        else if (useToken().sessions.find(value) !== null)
          record(SESSION_ACTOR, 'logout.session', 'session', request);
      }
      const rootPath = publicUrl === null ? '/' : new URL(publicUrl).pathname.replace(/(?<=.)\/$/, '');
      reply.header('set-cookie', printEndOfSession({ isSecure: isSecure(request), isHostShared }, rootPath));
    },
  };
}

/** A session has the rights of `admin.token`, also if it was started with a link. */
const SESSION: Identity = { ...SESSION_ACTOR, role: 'admin', instances: null };

const NOT_SIGNED_IN =
  'Send `authorization: Bearer <token>` with a personal token or `admin.token`, or log in for a session.';
const NO_PERSON_SIGNED_IN =
  'Sign in by your identity provider, or send `authorization: Bearer <token>` with a token of a provider in `auth.issuers`.';
const NO_ROLE =
  'You have no role here, so that you administer nothing: no rule of operators.rules matches. Your own connections to Odoo are at /me.';
const NO_PERSON =
  'This is for persons: sign in by your identity provider. A session with `admin.token` is that of nobody in particular.';
const NO_PERSON_TOKEN =
  'This is no token of a person, or it is not valid: send one of a provider in `auth.issuers`.';

const NOT_THE_TOKEN = 'This is not the admin token; it is the setting admin.token of the proxy.';

const PERSONAL_REFUSALS: Record<RefusedToken['refused'], string> = {
  unknown: 'This is no personal token of this proxy.',
  expired: 'This personal token has expired: ask an administrator for another one.',
  revoked: 'This personal token was revoked.',
  denied: 'The person who created this personal token is denied.',
  no_role: 'The person who created this personal token has no role any more.',
  unconfirmed:
    'The person who created this personal token must sign in again: the provider has not confirmed them for operators.tokenDays, or the settings of operators have changed.',
};

const NEW_LINK = 'Run `erp-proxy console` where the proxy has its settings: it prints a new one.';

const CODE_UNCHECKED =
  'The store of the proxy did not say whether this sign-in link was used. Try again when it answers, or print a new link with `erp-proxy console`.';

const NO_HANDOVER =
  'This code of a sign-in is unknown, used or older than two minutes: run `erp-proxy login` again.';

/** The bearer token of the header; empty if there is none. */
function readBearer(authorization: string | undefined): string {
  return /^bearer +(.*)$/i.exec(authorization ?? '')?.[1] ?? '';
}

/** The value of the session that a program sends; null: it sends none. */
function readProgramSession({ headers }: FastifyRequest): string | null {
  const given = readBearer(headers.authorization);
  return given.startsWith(PROGRAM_PREFIX) ? given.slice(PROGRAM_PREFIX.length) : null;
}

function requireRole(session: SignedIn): Authenticated {
  const { role } = session;
  if (role === null) throw createAdminError(403, NO_ROLE);
  return { ...session, role };
}

function isSafe(method: string): boolean {
  return method === 'GET' || method === 'HEAD';
}

/**
 * Refuses a change from a page of another origin. Browsers that do not send `sec-fetch-site` send `origin` with such
 * requests.
 */
export function requireOwnPage({ headers, host }: FastifyRequest): void {
  const { origin, 'sec-fetch-site': site } = headers;
  const isOwn = site === undefined ? URL.parse(origin ?? '')?.host === host : site === 'same-origin';
  if (!isOwn) {
    throw createAdminError(
      403,
      'A session may make changes only from pages of the proxy itself: elsewhere send the admin token.',
    );
  }
}

/**
 * False for a browser that uses the proxy on this machine without TLS, which would not return a `Secure` cookie. A
 * reverse proxy with TLS may also use a local host name: then the origin begins with `https:`.
 */
function isSecure({ protocol, hostname, headers }: FastifyRequest): boolean {
  if (headers.origin?.startsWith('https:')) return true;
  return protocol !== 'http' || !/^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(hostname);
}

async function waitUnlessClosed(delayMs: number, reply: FastifyReply): Promise<void> {
  const left = new AbortController();
  const leave = () => left.abort();
  reply.raw.once('close', leave);
  await delay(delayMs, left.signal);
  reply.raw.off('close', leave);
}
