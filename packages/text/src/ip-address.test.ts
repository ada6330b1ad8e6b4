import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isInBlock, parseAddress, parseBlock } from './ip-address.ts';

describe('parseAddress', () => {
  test('reads the bytes of any IPv6 address in the form that URL prints', () => {
    const byte = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 255 }));
    fc.assert(
      fc.property(fc.array(byte, { minLength: 16, maxLength: 16 }), (bytes) => {
        const groups = Array.from({ length: 8 }, (_, i) =>
          ((bytes[2 * i]! << 8) | bytes[2 * i + 1]!).toString(16),
        );
        const written = new URL(`http://[${groups.join(':')}]/`).hostname.slice(1, -1);
        fc.pre(!written.startsWith('::ffff:'));
        expect(parseAddress(written)).toEqual(bytes);
      }),
    );
  });

  test('reads a mapped address as the IPv4 address to which the kernel connects', () => {
    expect(parseAddress('::ffff:127.0.0.1')).toEqual([127, 0, 0, 1]);
    expect(parseAddress('::ffff:7f00:1')).toEqual([127, 0, 0, 1]);
  });
});

describe('parseBlock', () => {
  test.each([
    ['10.0.0.0/8', '10.255.0.1', '11.0.0.0'],
    ['10.1.2.3', '10.1.2.3', '10.1.2.4'],
    ['192.168.4.0/22', '192.168.7.255', '192.168.8.0'],
    ['fd00::/8', 'fdff::1', 'fc00::1'],
    ['::1', '::1', '::2'],
    ['::ffff:10.0.0.0/104', '10.9.9.9', '11.0.0.0'],
    ['0.0.0.0/0', '8.8.8.8', '::1'],
  ])('%s contains %s and not %s', (text, inside, outside) => {
    const block = parseBlock(text)!;
    expect(isInBlock(parseAddress(inside)!, block)).toBe(true);
    expect(isInBlock(parseAddress(outside)!, block)).toBe(false);
  });

  test('contains the mapped form of its addresses', () => {
    expect(isInBlock(parseAddress('::ffff:10.0.0.1')!, parseBlock('10.0.0.0/8')!)).toBe(true);
  });

  test.each([
    '10.0.0.1/8',
    '10.0.0.0/33',
    '10.0.0.0/-1',
    '10.0.0.0/08',
    '10.0.0.0/',
    '10/8',
    '::/129',
    'fe80::1%eth0',
    'erp/8',
    '::ffff:10.0.0.0/8',
  ])('refuses %s', (text) => {
    expect(parseBlock(text)).toBeNull();
  });
});
