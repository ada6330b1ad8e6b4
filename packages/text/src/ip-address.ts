/**
 * IP addresses and networks as text, and the bytes that they stand for. Pure: knows neither names nor what an address
 * is used for.
 */
import { isIPv4, isIPv6 } from 'node:net';

/** The 4 or 16 bytes of an address. */
export type AddressBytes = readonly number[];

/** A CIDR, which contains the addresses whose first `bits` bits are those of `bytes`. */
export interface AddressBlock {
  bytes: AddressBytes;
  bits: number;
}

/** The block ::ffff:0:0/96, written as bytes because {@link parseAddress} unwraps such addresses. */
export const IPV4_MAPPED: AddressBlock = {
  bytes: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 0, 0],
  bits: 96,
};

/**
 * Parses the strict textual form. An IPv4-mapped IPv6 address becomes the IPv4 address to which the kernel connects.
 * Returns null for octal, hexadecimal and short IPv4 forms: URL parsing has normalised those in URLs, and any others
 * are ambiguous (CVE-2021-28918).
 */
export function parseAddress(text: string): AddressBytes | null {
  if (isIPv4(text)) return text.split('.').map(Number);
  if (!isIPv6(text)) return null;
  const zone = text.indexOf('%');
  const bytes = parseV6(zone === -1 ? text : text.slice(0, zone));
  return isInBlock(bytes, IPV4_MAPPED) ? bytes.slice(12) : bytes;
}

/**
 * `text` must pass isIPv6. ipaddr.js is not used: it reads `::1.1.1.1`, which getaddrinfo prints for ::101:101, as a
 * mapped address.
 */
function parseV6(text: string): number[] {
  const [head = [], tail = []] = text.split('::').map(parseGroups);
  return [...head, ...new Array<number>(16 - head.length - tail.length).fill(0), ...tail];
}

function parseGroups(text: string): number[] {
  if (text === '') return [];
  return text.split(':').flatMap((group) => {
    if (group.includes('.')) return group.split('.').map(Number);
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 0xff];
  });
}

/** Parses a CIDR such as `10.0.0.0/8`, or a single address; null if it is neither, or has bits set after the prefix. */
export function parseBlock(text: string): AddressBlock | null {
  const slash = text.indexOf('/');
  const address = slash === -1 ? text : text.slice(0, slash);
  if (address.includes('%')) return null;
  const bytes = parseAddress(address);
  if (bytes === null) return null;
  const bitsWritten = isIPv6(address) ? 128 : 32;
  const suffix = slash === -1 ? String(bitsWritten) : text.slice(slash + 1);
  if (!/^(0|[1-9]\d{0,2})$/.test(suffix)) return null;
  // `::ffff:10.0.0.0/104` is `10.0.0.0/8`.
  const bits = Number(suffix) - (bitsWritten - bytes.length * 8);
  if (bits < 0 || bits > bytes.length * 8) return null;
  const hasHostBits = bytes.some((byte, index) => (byte & ~maskOf(index, bits) & 0xff) !== 0);
  return hasHostBits ? null : { bytes, bits };
}

export function isInBlock(bytes: AddressBytes, block: AddressBlock): boolean {
  if (bytes.length !== block.bytes.length) return false;
  for (let index = 0; index * 8 < block.bits; index++) {
    const mask = maskOf(index, block.bits);
    if ((bytes[index]! & mask) !== (block.bytes[index]! & mask)) return false;
  }
  return true;
}

function maskOf(index: number, bits: number): number {
  const here = Math.min(8, Math.max(0, bits - index * 8));
  return (0xff << (8 - here)) & 0xff;
}
