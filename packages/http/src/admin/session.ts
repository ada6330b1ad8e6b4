/**
 * Sessions of administrators: a cookie with an expiry time, signed with a key derived from the admin token. Nothing is
 * stored, so every replica accepts it, and a new token ends all sessions. Knows neither requests nor permissions.
 */
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';

const SESSION_COOKIE = 'ep_session';
/**
 * Browsers take a cookie of this name over TLS from the host itself alone. So no other server of the domain can plant a
 * session of somebody else, in which a person would connect a user of their own.
 */
export const HOST_COOKIE = `__Host-${SESSION_COOKIE}`;

/** Programs send the value of a session as a bearer token, after this prefix. */
export const PROGRAM_PREFIX = 'eps_';

/** The length of a working day. */
const LIFE_MS = 8 * 3_600_000;
const VALUE = /^(\d{1,15})\.([\w-]{43})$/;

export interface Sessions {
  open(): { value: string; expiresAt: number };
  /** The expiry of the session with this cookie value; null if the value is invalid or has expired. */
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

export interface CookieScope {
  isSecure: boolean;
  /** True if other servers use paths of the same host, which must not get the cookie. */
  isHostShared: boolean;
}

/** A `set-cookie` value. Scripts cannot read the cookie, and browsers send it from the proxy's own pages only. */
export function printSessionCookie(value: string, { isSecure, isHostShared }: CookieScope): string {
  // Without `Path`, browsers send the cookie to addresses in the folder of the login route, so only to the admin API.
  const path = isHostShared ? null : '/';
  const name = nameSessionCookie({ isSecure, path });
  return printCookie({ name, value, path, maxAgeMs: LIFE_MS, sameSite: 'Strict', isSecure });
}

/** The `set-cookie` values that end a session. `rootPath`: the path of `http.publicUrl`. */
export function printEndOfSession({ isSecure, isHostShared }: CookieScope, rootPath: string): string[] {
  // A session can be older than `http.publicUrl` with a path. Its cookie has `Path=/`, and other servers get it too.
  // That of a person has the path of the proxy.
  const paths = isHostShared ? [null, rootPath, '/'] : ['/'];
  return paths.map((path) =>
    printCookie({
      name: nameSessionCookie({ isSecure, path }),
      value: '',
      path,
      maxAgeMs: 0,
      sameSite: 'Strict',
      isSecure,
    }),
  );
}

export interface Cookie {
  name: string;
  value: string;
  /** Null: the folder of the request. */
  path: string | null;
  maxAgeMs: number;
  sameSite: 'Strict' | 'Lax';
  isSecure: boolean;
}

export function printCookie({ name, value, path, maxAgeMs, sameSite, isSecure }: Cookie): string {
  const place = path === null ? '' : `; Path=${path}`;
  const maxAge = `; Max-Age=${Math.floor(maxAgeMs / 1000)}`;
  return `${name}=${value}${place}${maxAge}; HttpOnly; SameSite=${sameSite}${isSecure ? '; Secure' : ''}`;
}

export function nameSessionCookie({ isSecure, path }: Pick<Cookie, 'isSecure' | 'path'>): string {
  return isSecure && path === '/' ? HOST_COOKIE : SESSION_COOKIE;
}

/** The value of the session in a `cookie` header. `isSecure`: the browser got its cookie over TLS. */
export function readSessionCookie(
  header: string | undefined,
  { isSecure, isHostShared }: CookieScope,
): string | undefined {
  const [own, plain] = [readCookie(HOST_COOKIE, header), readCookie(SESSION_COOKIE, header)];
  // Below a path, the cookie has another name: a browser takes the one above for the whole host only.
  if (isHostShared) return plain ?? own;
  return isSecure ? own : (own ?? plain);
}

export function readCookie(name: string, header: string | undefined): string | undefined {
  const pairs = header?.split(';').map((pair) => pair.trim()) ?? [];
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1);
}
