/**
 * Authenticates requests to the admin API: by the admin token, or by a session that was started with it. A browser
 * sends the session's cookie with any request to the proxy. So a request that makes a change must also come from the
 * proxy's own pages.
 */

import { hash, timingSafeEqual } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { createAdminError } from '../../admin/admin-error.ts';
import type { Slowdown } from '../../keys/slowdown.ts';
import { delay } from '../../streams/wait.ts';
import { readRequestId } from '../request-id.ts';
import { createSessions, printEndOfSession, printSessionCookie, readSessionCookie } from './session.ts';

export interface Identity {
  actor: 'token' | 'session';
  /** Milliseconds since 1970; null: until the token changes. */
  expiresAt: number | null;
}

/** Throws an AdminError to refuse a request. */
export interface Authenticator {
  identify(request: FastifyRequest, reply: FastifyReply): Promise<Identity>;
  /** Starts a session and sets its cookie on the answer. */
  login(token: string, request: FastifyRequest, reply: FastifyReply): Promise<Identity>;
  /** Clears the cookie of the session, if there is one. */
  logout(request: FastifyRequest, reply: FastifyReply): void;
}

/** A login for the audit. */
export interface Login {
  actor: 'token' | 'session' | 'nobody';
  address: string;
  requestId: string;
  action: 'login.token' | 'login.session' | 'logout.session' | 'login.refused';
  isRefused: boolean;
}

export interface AuthenticateOptions {
  token: string;
  /** Not that of client keys: a caller with a bad key must not slow an administrator down. */
  slowdown: Slowdown;
  /** Milliseconds since 1970. */
  clock: () => number;
  recordLogin: (login: Login) => void;
}

/** A program sends the token with each request. Its login is recorded once per address in this time. */
const LOGIN_RECORD_INTERVAL_MS = 3_600_000;
const ADDRESSES_MAX = 1000;

export function createAuthenticator({
  token,
  slowdown,
  clock,
  recordLogin,
}: AuthenticateOptions): Authenticator {
  const recordedAt = new LRUCache<string, number>({ max: ADDRESSES_MAX });
  const sessions = createSessions({ token, clock });
  const tokenHash = hash('sha256', token, 'buffer');

  function record(actor: Login['actor'], action: Login['action'], request: FastifyRequest): void {
    const requestId = readRequestId(request.headers);
    recordLogin({ actor, action, address: request.ip, requestId, isRefused: action === 'login.refused' });
  }

  function recordToken(request: FastifyRequest): void {
    const now = clock();
    if (Math.abs(now - (recordedAt.get(request.ip) ?? -Infinity)) < LOGIN_RECORD_INTERVAL_MS) return;
    recordedAt.set(request.ip, now);
    record('token', 'login.token', request);
  }

  async function checkToken(given: string, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    if (timingSafeEqual(hash('sha256', given, 'buffer'), tokenHash)) return;
    record('nobody', 'login.refused', request);
    const penalty = slowdown.penalize(request.ip);
    if ('retryAfterSeconds' in penalty) {
      reply.headers({ 'retry-after': String(penalty.retryAfterSeconds), connection: 'close' });
      throw createAdminError(429, 'Too many refused tokens: wait before you try again.');
    }
    if (penalty.delayMs > 0) await waitUnlessClosed(penalty.delayMs, reply);
    throw createAdminError(401, 'This is not the admin token; it is the setting admin.token of the proxy.');
  }

  return {
    async identify(request, reply) {
      const { authorization, cookie } = request.headers;
      if (authorization !== undefined) {
        await checkToken(/^bearer +(.*)$/i.exec(authorization)?.[1] ?? '', request, reply);
        recordToken(request);
        return { actor: 'token', expiresAt: null };
      }
      const value = readSessionCookie(cookie);
      if (value === undefined) {
        throw createAdminError(401, 'Send `authorization: Bearer <admin.token>`, or log in for a session.');
      }
      const session = sessions.find(value);
      if (session === null) {
        record('nobody', 'login.refused', request);
        throw createAdminError(401, 'The session has ended: log in again.');
      }
      if (!isSafe(request.method)) requireOwnPage(request);
      return { actor: 'session', expiresAt: session.expiresAt };
    },

    async login(given, request, reply) {
      await checkToken(given, request, reply);
      record('session', 'login.session', request);
      const { value, expiresAt } = sessions.open();
      reply.header('set-cookie', printSessionCookie(value, isSecure(request)));
      return { actor: 'session', expiresAt };
    },

    logout(request, reply) {
      const value = readSessionCookie(request.headers.cookie);
      if (value !== undefined) {
        requireOwnPage(request);
        if (sessions.find(value) !== null) record('session', 'logout.session', request);
      }
      reply.header('set-cookie', printEndOfSession(isSecure(request)));
    },
  };
}

function isSafe(method: string): boolean {
  return method === 'GET' || method === 'HEAD';
}

/** Browsers that do not send `sec-fetch-site` send the page's `origin` with requests that make changes. */
function requireOwnPage({ headers, host }: FastifyRequest): void {
  const { origin, 'sec-fetch-site': site } = headers;
  const isOwn = site === undefined ? URL.parse(origin ?? '')?.host === host : site === 'same-origin';
  if (!isOwn) {
    throw createAdminError(
      403,
      'A session may make changes only from pages of the proxy itself: elsewhere send the admin token.',
    );
  }
}

/** A browser on this machine may use the proxy without TLS; it would not return a `Secure` cookie then. */
function isSecure({ protocol, hostname }: FastifyRequest): boolean {
  return protocol !== 'http' || !/^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(hostname);
}

async function waitUnlessClosed(delayMs: number, reply: FastifyReply): Promise<void> {
  const left = new AbortController();
  const leave = () => left.abort();
  reply.raw.once('close', leave);
  await delay(delayMs, left.signal);
  reply.raw.off('close', leave);
}
