/**
 * Classifies IP addresses by a table of the IANA special-purpose registries (IPv4 and IPv6) and of cloud metadata
 * services. Pure: knows neither names nor the settings of the operator.
 */
import {
  type AddressBlock,
  type AddressBytes,
  IPV4_MAPPED,
  isInBlock,
  parseAddress,
  parseBlock,
} from '@erp-proxy/text';

/** `reserved`: not public and of no other kind, such as documentation, tunnels, future use. */
export type AddressKind =
  | 'public'
  | 'loopback'
  | 'private'
  | 'cgnat'
  | 'link_local'
  | 'metadata'
  | 'unspecified'
  | 'multicast'
  | 'broadcast'
  | 'reserved';

/** The kind of an address, given as text or as bytes; null if the text is not an IP address. */
export function classifyAddress(address: string | AddressBytes): AddressKind | null {
  const bytes = typeof address === 'string' ? parseAddress(address) : address;
  if (bytes === null) return null;
  return bytes.length === 4 ? classifyV4(bytes) : classifyV6(bytes);
}

function classifyV4(bytes: AddressBytes): AddressKind {
  return findKind(bytes, V4_TABLE) ?? 'public';
}

/**
 * An address that embeds an IPv4 address is public only if the embedded one is. Teredo (RFC 4380) and 6to4 (RFC 7526,
 * retired) are never public: a relay chooses the destination of the packet.
 */
function classifyV6(bytes: AddressBytes): AddressKind {
  if (isInBlock(bytes, IPV4_MAPPED)) return classifyV4(bytes.slice(12));
  const special = findKind(bytes, V6_TABLE);
  if (special !== null) return special;
  // RFC 6052 section 3.1: the well-known prefix must not embed a non-public address.
  if (isInBlock(bytes, NAT64)) return classifyV4(bytes.slice(12)) === 'public' ? 'public' : 'reserved';
  if (!isInBlock(bytes, GLOBAL_UNICAST)) return 'reserved';
  return isIsatap(bytes) && classifyV4(bytes.slice(12)) !== 'public' ? 'reserved' : 'public';
}

/** RFC 5214 section 6.1: interface identifier ::0:5efe:a.b.c.d or ::200:5efe:a.b.c.d under any prefix. */
function isIsatap(bytes: AddressBytes): boolean {
  return (bytes[8]! & 0xfd) === 0 && bytes[9] === 0 && bytes[10] === 0x5e && bytes[11] === 0xfe;
}

function findKind(bytes: AddressBytes, table: readonly Row[]): AddressKind | null {
  for (const [block, kind] of table) if (isInBlock(bytes, block)) return kind;
  return null;
}

type Row = readonly [AddressBlock, AddressKind];

function makeTable(kinds: readonly (readonly [AddressKind, readonly string[]])[]): readonly Row[] {
  return kinds.flatMap(([kind, blocks]) => blocks.map((text): Row => [makeBlock(text), kind]));
}

function makeBlock(text: string): AddressBlock {
  const block = parseBlock(text);
  if (block === null) throw new Error(`address table: ${text} is not a CIDR`);
  return block;
}

const NAT64 = makeBlock('64:ff9b::/96');
const GLOBAL_UNICAST = makeBlock('2000::/3');

/**
 * The first matching row decides. Metadata services come first: the address of Alibaba is in the CGNAT range, that of
 * Azure among public addresses, and that of Oracle in 192.0.0.0/24.
 */
const V4_TABLE = makeTable([
  [
    'metadata',
    [
      '169.254.169.254', // AWS, GCP, Azure, OpenStack, DigitalOcean …
      '169.254.169.253', // AWS resolver
      '169.254.170.2', // AWS ECS task credentials
      '169.254.170.23', // AWS EKS pod identity
      '169.254.0.23', // Tencent
      '169.254.42.42', // Scaleway
      '100.100.100.200', // Alibaba
      '168.63.129.16', // Azure WireServer
      '192.0.0.192', // Oracle Cloud classic
    ],
  ],
  ['unspecified', ['0.0.0.0/8']],
  ['loopback', ['127.0.0.0/8']],
  ['private', ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16']],
  ['cgnat', ['100.64.0.0/10']],
  ['link_local', ['169.254.0.0/16']],
  ['broadcast', ['255.255.255.255']],
  ['multicast', ['224.0.0.0/4']],
  [
    'reserved',
    [
      '192.0.0.0/24', // IETF protocol assignments (RFC 6890)
      '192.0.2.0/24', // documentation (RFC 5737)
      '198.51.100.0/24',
      '203.0.113.0/24',
      '192.88.99.0/24', // 6to4 relays (RFC 7526)
      '198.18.0.0/15', // benchmarks (RFC 2544)
      '240.0.0.0/4', // future use (RFC 1112)
    ],
  ],
]);

const V6_TABLE = makeTable([
  ['metadata', ['fd00:ec2::/32', 'fd20:ce::254', 'fd00:42::42']], // AWS, GCP, Scaleway
  ['unspecified', ['::']],
  ['loopback', ['::1']],
  ['private', ['fc00::/7']],
  ['link_local', ['fe80::/10']],
  ['multicast', ['ff00::/8']],
  [
    'reserved',
    [
      '2001::/23', // IETF protocol assignments: Teredo, ORCHID, benchmarks (RFC 2928)
      '2001:db8::/32', // documentation (RFC 3849)
      '3fff::/20', // documentation (RFC 9637)
      '2002::/16', // 6to4
    ],
  ],
]);
