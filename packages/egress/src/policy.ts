/**
 * Parses the setting `egress.allow`, and checks origins and addresses by it. Pure: resolves no names and opens no
 * connections.
 */
import { isIPv4 } from 'node:net';
import { type AddressBlock, isInBlock, parseAddress, parseBlock } from '@erp-proxy/text';
import { type AddressKind, classifyAddress } from './address.ts';
import type { EgressDenial } from './messages.ts';

export interface EgressPolicy {
  /** Scheme, host and port. */
  origins: ReadonlySet<string>;
  /** Any scheme, and any port that is not blocked. */
  hosts: ReadonlySet<string>;
  /** `host:port` with any scheme. */
  hostPorts: ReadonlySet<string>;
  /** Any scheme to addresses in the block. */
  blocks: readonly AddressBlock[];
}

export interface EgressPolicyError {
  entry: string;
  message: string;
}

/** The target of a request that {@link checkOrigin} allows, as far as that can be decided without DNS. */
export interface EgressTarget {
  secure: boolean;
  /** In lower case, without brackets and without the trailing dot of the root. */
  host: string;
  port: number;
  isLiteral: boolean;
  /** True if an entry for an origin or host names it. */
  isNamed: boolean;
}

/** Parses the entries. Each invalid entry is reported. */
export function parseEgressPolicy(entries: readonly string[]): {
  policy: EgressPolicy;
  errors: EgressPolicyError[];
} {
  const origins = new Set<string>();
  const hosts = new Set<string>();
  const hostPorts = new Set<string>();
  const blocks: AddressBlock[] = [];
  const errors: EgressPolicyError[] = [];
  for (const given of entries) {
    const entry = given.trim();
    const message = readEntry(entry, { origins, hosts, hostPorts, blocks });
    if (message !== null) errors.push({ entry: given, message });
  }
  return { policy: { origins, hosts, hostPorts, blocks }, errors };
}

/** The target that an origin names, or why it is denied. `isAllowed`: the origin counts as listed in the policy. */
export function checkOrigin(
  policy: EgressPolicy,
  origin: string,
  isAllowed = false,
): EgressTarget | EgressDenial {
  const url = URL.canParse(origin) ? new URL(origin) : null;
  if (url === null) return deny('origin', 'it is not a URL origin');
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    return deny('scheme', `${url.protocol} is neither https: nor http:`);
  }
  // Two parsers must not read two hosts from one text, so that only the output of URL itself is accepted.
  if (url.origin !== origin) return deny('origin', 'it is not written as URL.origin writes it');

  const secure = url.protocol === 'https:';
  const host = normaliseHost(url.hostname);
  if (host === '') return deny('origin', 'the host is empty');
  const port = url.port === '' ? (secure ? 443 : 80) : Number(url.port);
  const isPortNamed =
    isAllowed ||
    policy.origins.has(formatOrigin(secure, host, port)) ||
    policy.hostPorts.has(`${host}:${port}`);
  const isNamed = isPortNamed || policy.hosts.has(host);
  if (BAD_PORTS.has(port) && !isPortNamed) {
    return deny('port', `port ${port} is blocked: name ${host}:${port} in egress.allow to reach it`);
  }
  const target = { secure, host, port, isLiteral: parseAddress(host) !== null, isNamed };
  if (target.isLiteral) return checkAddress(policy, target, host) ?? target;
  if (!secure && !isNamed && policy.blocks.length === 0) return denyPlain(target);
  return target;
}

/**
 * Null if the target may be reached at this address. An entry for a host covers the addresses that private networks
 * use. Link-local, metadata, multicast, unspecified, broadcast and reserved addresses need an entry for the address
 * itself. No ERP server has such an address, and the owner of a DNS zone must not be able to direct the name to the
 * credentials of the cloud.
 */
export function checkAddress(
  policy: EgressPolicy,
  target: EgressTarget,
  address: string,
): EgressDenial | null {
  const bytes = parseAddress(address);
  const kind = bytes === null ? null : classifyAddress(bytes);
  if (bytes === null || kind === null) return deny('address', `${target.host} gave no IP address`);
  // A zone (fe80::1%eth0) selects an interface of this machine, and entries have no zones.
  if (address.includes('%')) return deny('address', `${address} has a zone`);
  if (policy.blocks.some((block) => isInBlock(bytes, block))) return null;
  if (kind === 'public') return target.secure || target.isNamed ? null : denyPlain(target);
  if (target.isNamed && COVERED_BY_NAME.has(kind)) return null;
  const remedy = COVERED_BY_NAME.has(kind) ? 'it' : 'the address';
  const found = target.isLiteral ? kind : `${address} (${kind})`;
  return deny('address', `${target.host} is ${found}: name ${remedy} in egress.allow to reach it`);
}

const COVERED_BY_NAME: ReadonlySet<AddressKind> = new Set([
  'public',
  'loopback',
  'private',
  'cgnat',
] as const);

function deny(rule: EgressDenial['rule'], detail: string): EgressDenial {
  return { rule, detail };
}

function denyPlain(target: EgressTarget): EgressDenial {
  return deny('scheme', `plain http to ${target.host}: use https, or name the origin in egress.allow`);
}

/** Removes brackets and the trailing dot of the root: `localhost.` is localhost. */
function normaliseHost(hostname: string): string {
  if (hostname.startsWith('[')) return hostname.slice(1, -1);
  return hostname.endsWith('.') ? hostname.slice(0, -1) : hostname;
}

function formatOrigin(secure: boolean, host: string, port: number): string {
  return `${secure ? 'https' : 'http'}://${host}:${port}`;
}

const FORMS =
  'expected an origin (http://localhost:8069), a host (erp.internal or erp.internal:8069), an IP address or a CIDR (10.0.0.0/8)';

function readEntry(
  entry: string,
  into: { origins: Set<string>; hosts: Set<string>; hostPorts: Set<string>; blocks: AddressBlock[] },
): string | null {
  const address = entry.replace(/^\[([^\]]*)\]$/, '$1');
  const block = parseBlock(address);
  if (block !== null) {
    into.blocks.push(block);
    return null;
  }
  if (entry.includes('://')) return readOrigin(entry, into.origins);
  if (entry.includes('/')) return `not a CIDR, or it has bits set behind its prefix; ${FORMS}`;
  return readHost(entry, into);
}

function readOrigin(entry: string, origins: Set<string>): string | null {
  const url = URL.canParse(entry) ? new URL(entry) : null;
  if (url === null) return FORMS;
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return 'an origin is http:// or https://';
  if (
    url.pathname !== '/' ||
    url.search !== '' ||
    url.hash !== '' ||
    url.username !== '' ||
    url.password !== ''
  ) {
    return 'an origin is scheme, host and port only: no path, query, fragment or user';
  }
  const host = normaliseHost(url.hostname);
  const secure = url.protocol === 'https:';
  origins.add(formatOrigin(secure, host, url.port === '' ? (secure ? 443 : 80) : Number(url.port)));
  return explainLiteral(host);
}

function readHost(entry: string, into: { hosts: Set<string>; hostPorts: Set<string> }): string | null {
  const match = /^(\[[^\]]*\]|[^:[\]\s/?#@\\]+)(?::(\d{1,5}))?$/.exec(entry);
  if (match === null || !URL.canParse(`http://${match[1]}/`)) return FORMS;
  const host = normaliseHost(new URL(`http://${match[1]}/`).hostname);
  if (host.includes('*')) return 'wildcards are not known: name each host, or a CIDR';
  // URL reads forms such as 0x7f.1 and 127.1 as an address. Such an entry would not mean what it says.
  if (isIPv4(host) && host !== match[1]) return `write the address out: ${host}`;
  const port = match[2] === undefined ? null : Number(match[2]);
  if (port !== null && (port === 0 || port > 65535)) return 'a port is 1 to 65535';
  if (port === null) into.hosts.add(host);
  else into.hostPorts.add(`${host}:${port}`);
  return explainLiteral(host);
}

function explainLiteral(host: string): string | null {
  const kind = classifyAddress(host);
  if (kind === null || COVERED_BY_NAME.has(kind)) return null;
  return `${host} is ${kind}: such an address is allowed only by an entry that is the address itself, ${host}`;
}

/**
 * Ports to which no HTTP request is sent unless the policy names them. The "bad ports" of the WHATWG fetch standard
 * (section 2.9, port blocking): their services could execute the text of an HTTP request as commands.
 */
const BAD_PORTS: ReadonlySet<number> = new Set([
  0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104,
  109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515,
  526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049,
  3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
]);

/** Parses the base URL of an Odoo server. Checks the syntax, not whether the address may be reached. */
export interface BaseUrl {
  /** Scheme, host and port, as in URL.origin. */
  origin: string;
  /** Prefix of all paths of the server: empty, or with a leading and without a trailing slash. */
  pathPrefix: string;
}

export const URL_LENGTH_MAX = 2048;

/** Accepts http and https without user info, query and fragment. Otherwise gives the problem as a sentence part. */
export function parseBaseUrl(text: string): BaseUrl | { problem: string } {
  // The URL parser silently drops tabs and line breaks, reads `\` as `/`, and drops an empty `?` or `#`.
  if (/[\s\\\p{Cc}]/u.test(text)) return explain('must not have spaces, control characters or backslashes');
  if (/[?#]/.test(text)) return explain('must not have a query or fragment; give the base address only');
  const url = URL.parse(text);
  if (url === null) return explain('is not a URL; give the base address, e.g. "https://erp.example.com"');
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    return explain('must begin with https:// or http://');
  if (!/^https?:\/\/[^/]/i.test(text)) return explain('must name a host after "://"');
  if (url.username !== '' || url.password !== '' || /^[^/]*\/\/[^/]*@/.test(text)) {
    return explain('must not have a user name or password; credentials go into `user_id` and `api_key`');
  }
  return { origin: url.origin, pathPrefix: url.pathname.replace(/\/+$/, '') };
}

function explain(problem: string): { problem: string } {
  return { problem };
}
