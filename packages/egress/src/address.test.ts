/** Tests the address table against the IANA registries and all forms that embed an IPv4 address in an IPv6 address. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type AddressKind, classifyAddress } from './address.ts';

const KINDS: Record<AddressKind, string[]> = {
  public: [
    '1.1.1.1',
    '9.255.255.255',
    '11.0.0.0',
    '100.63.255.255',
    '100.128.0.0',
    '126.255.255.255',
    '128.0.0.0',
    '169.253.255.255',
    '169.255.0.0',
    '172.15.255.255',
    '172.32.0.0',
    '192.167.255.255',
    '192.169.0.0',
    '198.17.255.255',
    '198.20.0.0',
    '223.255.255.255',
    '::ffff:1.1.1.1',
    '64:ff9b::1.1.1.1',
    '2606:4700:4700::1111',
    '2001:200::1',
    '2a00::5efe:1.1.1.1',
  ],
  loopback: ['127.0.0.1', '127.255.255.255', '::1', '::ffff:127.0.0.1', '0:0:0:0:0:ffff:7f00:1'],
  private: [
    '10.0.0.0',
    '10.255.255.255',
    '172.16.0.0',
    '172.31.255.255',
    '192.168.0.0',
    '192.168.255.255',
    'fc00::',
    'fdff::1',
  ],
  cgnat: ['100.64.0.0', '100.127.255.255', '::ffff:100.64.0.1'],
  link_local: ['169.254.0.1', '169.254.255.255', 'fe80::1', 'febf::1', 'fe80::1%eth0', '::ffff:169.254.1.1'],
  metadata: [
    '169.254.169.254',
    '::ffff:169.254.169.254',
    '169.254.170.2',
    '100.100.100.200',
    '168.63.129.16',
    '192.0.0.192',
    'fd00:ec2::254',
    'fd20:ce::254',
  ],
  unspecified: ['0.0.0.0', '0.255.255.255', '::', '::ffff:0.0.0.0'],
  multicast: ['224.0.0.1', '239.255.255.255', 'ff02::1', '::ffff:224.0.0.1'],
  broadcast: ['255.255.255.255'],
  reserved: [
    '192.0.0.1',
    '192.0.2.1',
    '198.51.100.1',
    '203.0.113.1',
    '192.88.99.1',
    '198.18.0.1',
    '198.19.255.255',
    '240.0.0.1',
    '255.255.255.254',
    '::2',
    '::127.0.0.1',
    '::1.1.1.1',
    '::ffff:0:127.0.0.1',
    '64:ff9b::127.0.0.1',
    '64:ff9b::10.0.0.1',
    '64:ff9b::169.254.169.254',
    '64:ff9b:1::1.1.1.1',
    '64:ff9b:1:7f00:0:100::',
    '100::1',
    '2001::1',
    '2001:0:7f00:1::',
    '2001:2::1',
    '2001:10::1',
    '2001:db8::1',
    '2002:7f00:1::',
    '2002:101:101::1',
    '2a00::5efe:10.0.0.1',
    '2a00::200:5efe:127.0.0.1',
    '3fff::1',
    '4000::1',
    '5f00::1',
    'fec0::1',
  ],
};

describe('classifyAddress', () => {
  for (const [kind, addresses] of Object.entries(KINDS)) {
    test.each(addresses)(`classifies %s as ${kind}`, (address) => {
      expect(classifyAddress(address)).toBe(kind);
    });
  }

  test.each([
    '',
    'localhost',
    '127.1',
    '0177.0.0.1',
    '0x7f.0.0.1',
    '2130706433',
    '1.2.3.4.5',
    '256.1.1.1',
    ':::1',
    '[::1]',
    ' 1.1.1.1',
  ])('does not accept the ambiguous form %j as an address', (text) => {
    expect(classifyAddress(text)).toBeNull();
  });

  test('never classifies an IPv6 address as public if it embeds an IPv4 address that is not', () => {
    const octet = fc.integer({ min: 0, max: 255 });
    fc.assert(
      fc.property(octet, octet, octet, octet, (a, b, c, d) => {
        const v4 = `${a}.${b}.${c}.${d}`;
        const hex = `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
        const inverted = `${(((a << 8) | b) ^ 0xffff).toString(16)}:${(((c << 8) | d) ^ 0xffff).toString(16)}`;
        const isPublic = classifyAddress(v4) === 'public';
        for (const carrier of [
          `::ffff:${v4}`,
          `::ffff:${hex}`,
          `::${v4}`,
          `64:ff9b::${v4}`,
          `64:ff9b:1::${v4}`,
          `2002:${hex}::1`,
          `2001:0:101:101:0:0:${inverted}`,
          `2001:0:${hex}::1`,
          `2606:4700::5efe:${v4}`,
          `2606:4700::200:5efe:${v4}`,
        ]) {
          if (!isPublic) expect(classifyAddress(carrier), carrier).not.toBe('public');
        }
        expect(classifyAddress(`::ffff:${hex}`)).toBe(classifyAddress(v4));
      }),
    );
  });
});
