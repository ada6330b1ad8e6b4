/** Where applications may get codes: at https, on the machine of the browser, or by a scheme of their own. Pure. */
import { cleanName } from '@erp-proxy/control/audit';

const LOOPBACKS = new Set(['localhost', '127.0.0.1', '[::1]']);
/** Schemes that the browser handles itself. */
const BROWSER_SCHEMES = new Set(['javascript:', 'vbscript:', 'data:', 'blob:', 'file:', 'about:']);
const NAME_LENGTH_MAX = 80;

/** The fault of an address; null: a code may be sent there. `own`: the address of the proxy. */
export function findRedirectFault(uri: string, own: string): string | null {
  const url = URL.parse(uri);
  if (url === null || uri.length > 1000) return 'must be URLs of up to 1000 characters';
  // Parsers of URLs drop them, so that what follows would be about another text than the application sends.
  if (/[\s\p{Cc}]/u.test(uri)) return 'must have no spaces or control characters';
  if (BROWSER_SCHEMES.has(url.protocol)) return 'have a scheme that is not allowed';
  if (uri.includes('#')) return 'must have no fragment';
  if (url.username !== '' || url.password !== '') return 'must have no user';
  if (url.origin === new URL(own).origin) return 'must not be addresses of the proxy itself';
  if (url.protocol === 'http:' && !LOOPBACKS.has(url.hostname))
    return 'must use https, unless they are on the machine of the browser (127.0.0.1, [::1] or localhost)';
  return null;
}

/** What a person is shown: the origin, or the scheme of an application on their machine. */
export function nameAddress(uri: string): string {
  const url = new URL(uri);
  return url.origin === 'null' ? url.protocol : url.origin;
}

/** The name of an application, as a person is shown it: as the application has told it, or its address. */
export function nameApplication(told: string | undefined, redirectUri: string): string {
  return cleanName(told?.trim() || nameAddress(redirectUri), NAME_LENGTH_MAX);
}

export function isOnThisMachine(uri: string): boolean {
  const url = new URL(uri);
  return !/^https?:$/.test(url.protocol) || LOOPBACKS.has(url.hostname);
}
