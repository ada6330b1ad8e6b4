/** Patterns of origins: a scheme, a host in which `*` stands for any text, and a port. `*` alone matches any origin. */
import { compileGlob } from '@erp-proxy/contract';

const ORIGIN = /^([a-z][a-z0-9+.-]*):\/\/(\[[0-9a-f:.]+\]|[a-z0-9_.*-]+)(?::(\d{1,5}))?$/i;
const STANDARD_PORTS: Readonly<Record<string, string>> = { http: '80', https: '443' };

interface OriginParts {
  scheme: string;
  host: string;
  port: string;
}

/** Returns a function that tells whether any pattern matches an origin, as `URL.origin` or a browser prints it. */
export function compileOrigins(patterns: readonly string[]): (origin: string) => boolean {
  const compiled = patterns.map(compileOrigin);
  return (origin) => {
    const parts = readOrigin(origin);
    return compiled.some((isMatch) => isMatch(parts));
  };
}

function compileOrigin(pattern: string): (origin: OriginParts | null) => boolean {
  if (pattern === '*') return () => true;
  const wanted = readOrigin(pattern);
  if (wanted === null) return () => false;
  const isHost = compileGlob(wanted.host);
  return (origin) =>
    origin !== null && origin.scheme === wanted.scheme && origin.port === wanted.port && isHost(origin.host);
}

/** The error of a pattern, as a continuation of its path; null if there is none. */
export function findOriginError(pattern: string, schemes: readonly string[] | 'any'): string | null {
  if (pattern === '*') return null;
  const parts = readOrigin(pattern);
  if (parts === null) {
    return 'must be an origin: scheme://host or scheme://host:port, nothing behind it, with `*` for any text in the host';
  }
  if (schemes !== 'any' && !schemes.includes(parts.scheme))
    return `must begin with ${schemes.join(':// or ')}://`;
  if (Number(parts.port) > 65_535) return 'must have a port of at most 65535';
  const printed = printHost(parts.host);
  if (printed === parts.host) return null;
  return `can never match: its host is ${printed === null ? 'none' : `written as ${printed}`}`;
}

/** The host as a URL prints it, e.g. `127.0.0.1` for `0x7f.1`; null if it cannot be a host. */
function printHost(host: string): string | null {
  // The host is parsed twice: with a letter in place of `*` it is a name, with a digit it may be an address.
  for (const stand of ['a', '1']) {
    const printed = URL.parse(`http://${host.replaceAll('*', stand)}/`)?.hostname;
    if (printed === undefined) continue;
    return printed === host.replaceAll('*', stand) ? host : printed;
  }
  return null;
}

/** Null if the text is not an origin, or a pattern of origins. */
export function readOrigin(origin: string): OriginParts | null {
  const [, scheme, host, port] = ORIGIN.exec(origin.toLowerCase()) ?? [];
  if (scheme === undefined || host === undefined) return null;
  return { scheme, host, port: port ?? STANDARD_PORTS[scheme] ?? '' };
}
