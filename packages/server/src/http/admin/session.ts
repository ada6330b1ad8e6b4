/**
 * The console's session: a cookie that says until when it holds, signed under the admin token. Nothing of it is kept,
 * so that every replica knows it; another token ends all of them. Knows neither requests nor who may do what.
 */
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';

export const SESSION_COOKIE = 'ep_session';

/** A working day. */
const LIFE_MS = 8 * 3_600_000;
const VALUE = /^(\d{1,15})\.([\w-]{43})$/;

export interface Sessions {
  open(): { value: string; expiresAt: number };
  /** Until when the session of this value holds; null where there is none, or no longer. */
  find(value: string): { expiresAt: number } | null;
}

export function createSessions({ token, clock }: { token: string; clock: () => number }): Sessions {
  const key = Buffer.from(hkdfSync('sha256', token, '', 'erp-proxy admin session v1', 32));
  const sign = (expiresAt: string) => createHmac('sha256', key).update(expiresAt).digest();

  return {
    open() {
      const expiresAt = clock() + LIFE_MS;
      return { value: `${expiresAt}.${sign(String(expiresAt)).toString('base64url')}`, expiresAt };
    },
    find(value) {
      const [, expiresAt = '', signature = ''] = VALUE.exec(value) ?? [];
      const given = Buffer.from(signature, 'base64url');
      const right = sign(expiresAt);
      if (given.length !== right.length || !timingSafeEqual(given, right)) return null;
      return Number(expiresAt) > clock() ? { expiresAt: Number(expiresAt) } : null;
    },
  };
}

/** For `set-cookie`: out of reach of scripts, and sent by pages of our own only. */
export function printSessionCookie(value: string, isSecure: boolean): string {
  return printCookie(value, LIFE_MS / 1000, isSecure);
}

export function printEndOfSession(isSecure: boolean): string {
  return printCookie('', 0, isSecure);
}

function printCookie(value: string, maxAgeSeconds: number, isSecure: boolean): string {
  const secure = isSecure ? '; Secure' : '';
  return `${SESSION_COOKIE}=${value}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Strict${secure}`;
}

/** The value in a `cookie` header. */
export function readSessionCookie(header: string | undefined): string | undefined {
  const pairs = header?.split(';').map((pair) => pair.trim()) ?? [];
  return pairs.find((pair) => pair.startsWith(`${SESSION_COOKIE}=`))?.slice(SESSION_COOKIE.length + 1);
}
