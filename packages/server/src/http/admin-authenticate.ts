/**
 * Who asks the admin API: whoever has the admin token, or a session that was begun with it. A browser sends the cookie
 * of a session with any request to us, so that a request that changes something must also come from a page of our own.
 */
import { hash, timingSafeEqual } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { refuse } from '../admin/admin-error.ts';
import type { Slowdown } from '../keys/slowdown.ts';
import { createSessions, printEndOfSession, printSessionCookie, readSessionCookie } from './session.ts';

export interface Identity {
  actor: 'token' | 'session';
  /** Null: for as long as the token is the same. */
  expiresAt: number | null;
}

/** Refusals are an AdminError. */
export interface Authenticator {
  identify(request: FastifyRequest, reply: FastifyReply): Promise<Identity>;
  /** Begins a session: the answer gets its cookie. */
  login(token: string, request: FastifyRequest, reply: FastifyReply): Promise<Identity>;
  /** Makes the browser forget its session, if it has one. */
  logout(request: FastifyRequest, reply: FastifyReply): void;
}

export interface AuthenticateOptions {
  token: string;
  /** Apart from that of client keys: a caller with a bad key must not keep an administrator waiting. */
  slowdown: Slowdown;
  /** Milliseconds since 1970. */
  clock: () => number;
}

export function createAuthenticator({ token, slowdown, clock }: AuthenticateOptions): Authenticator {
  const sessions = createSessions({ token, clock });
  const tokenHash = hash('sha256', token, 'buffer');

  async function checkToken(given: string, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    if (timingSafeEqual(hash('sha256', given, 'buffer'), tokenHash)) return;
    const penalty = slowdown.penalize(request.ip);
    if ('retryAfterSeconds' in penalty) {
      reply.headers({ 'retry-after': String(penalty.retryAfterSeconds), connection: 'close' });
      throw refuse(429, 'Too many refused tokens: wait before you try again.');
    }
    if (penalty.delayMs > 0) await waitUnlessLeft(penalty.delayMs, reply);
    throw refuse(401, 'This is not the admin token; it is the setting admin.token of the proxy.');
  }

  return {
    async identify(request, reply) {
      const { authorization, cookie } = request.headers;
      if (authorization !== undefined) {
        await checkToken(/^bearer +(.*)$/i.exec(authorization)?.[1] ?? '', request, reply);
        return { actor: 'token', expiresAt: null };
      }
      const value = readSessionCookie(cookie);
      if (value === undefined) {
        throw refuse(401, 'Send `authorization: Bearer <admin.token>`, or log in for a session.');
      }
      const session = sessions.find(value);
      if (session === null) throw refuse(401, 'The session has ended: log in again.');
      if (!isSafe(request.method)) requireOwnPage(request);
      return { actor: 'session', expiresAt: session.expiresAt };
    },

    async login(given, request, reply) {
      await checkToken(given, request, reply);
      const { value, expiresAt } = sessions.open();
      reply.header('set-cookie', printSessionCookie(value, isSecure(request)));
      return { actor: 'session', expiresAt };
    },

    logout(request, reply) {
      if (readSessionCookie(request.headers.cookie) !== undefined) requireOwnPage(request);
      reply.header('set-cookie', printEndOfSession(isSecure(request)));
    },
  };
}

function isSafe(method: string): boolean {
  return method === 'GET' || method === 'HEAD';
}

/** Browsers that do not tell `sec-fetch-site` send the `origin` of the page with such requests. */
function requireOwnPage({ headers, host }: FastifyRequest): void {
  const { origin, 'sec-fetch-site': site } = headers;
  const isOwn = site === undefined ? URL.parse(origin ?? '')?.host === host : site === 'same-origin';
  if (!isOwn) {
    throw refuse(
      403,
      'A session changes things from pages of the proxy itself only: elsewhere send the admin token.',
    );
  }
}

/** A browser on this machine may talk to the proxy without TLS; its cookie would not come back if it were secure. */
function isSecure({ protocol, hostname }: FastifyRequest): boolean {
  return protocol !== 'http' || !/^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(hostname);
}

async function waitUnlessLeft(delayMs: number, reply: FastifyReply): Promise<void> {
  const left = new AbortController();
  const leave = () => left.abort();
  reply.raw.once('close', leave);
  await sleep(delayMs, undefined, { signal: left.signal }).catch(() => {});
  reply.raw.off('close', leave);
}
