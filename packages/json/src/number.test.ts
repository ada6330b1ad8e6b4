import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { countCases } from '../../server/test/random-cases.ts';
import { readDocument } from './document.ts';
import { readInteger } from './number.ts';

describe('an integer', () => {
  test.each<[string, number | bigint | null]>([
    ['0', 0],
    ['-0', 0],
    ['-0.0e5', 0],
    ['2', 2],
    ['-17', -17],
    ['2.0', 2],
    ['20e-1', 2],
    ['0.2e1', 2],
    ['0.02E+2', 2],
    ['1.5e1', 15],
    ['1e3', 1000],
    ['100000e-5', 1],
    ['2.5', null],
    ['1e-1', null],
    ['15e-1', null],
    ['0.5', null],
    ['999999999999999', 999999999999999],
    ['9007199254740991', 9007199254740991],
    ['9007199254740992', 9007199254740992n],
    ['-9007199254740993', -9007199254740993n],
    ['9223372036854775808', 9223372036854775808n],
    ['1e22', 10n ** 22n],
    ['9007199254740993.0', 9007199254740993n],
    ['1e255', 10n ** 255n],
    ['1e256', null],
    ['1e1000000000', null],
    ['1e-1000000000', null],
    [`1e${'9'.repeat(400)}`, null],
    [`-1e-${'9'.repeat(400)}`, null],
    [`0e${'9'.repeat(400)}`, 0],
    [`0e-${'9'.repeat(400)}`, 0],
    [`1e${'0'.repeat(400)}2`, 100],
    [`1${'0'.repeat(100_000)}e-100000`, 1],
    [`0.${'0'.repeat(100_000)}1e100001`, 1],
    [`1.${'0'.repeat(100_000)}`, 1],
    [`1.${'0'.repeat(100_000)}1`, null],
    ['9'.repeat(256), BigInt('9'.repeat(256))],
    ['9'.repeat(257), null],
    ['9'.repeat(1_000_000), null],
  ])('written %s is read by value', (text, value) => {
    expect(readText(text)).toBe(value);
  });

  test('is never read from a value that is not a number', () => {
    for (const text of ['"2"', 'true', 'null', '[2]', '{}']) expect(readText(text)).toBeNull();
  });

  test('has the exact value in any notation', () => {
    fc.assert(
      fc.property(
        fc.stringMatching(/^-?(0|[1-9][0-9]{0,25})$/),
        fc.oneof(fc.constant(''), fc.stringMatching(/^[0-9]{1,6}$/), fc.stringMatching(/^[0-9]{0,3}0{1,6}$/)),
        fc.integer({ min: -12, max: 30 }),
        fc.constantFrom('e', 'E'),
        (whole, decimals, exponent, letter) => {
          const power = exponent === 0 ? '' : `${letter}${exponent}`;
          const text = `${whole}${decimals === '' ? '' : `.${decimals}`}${power}`;
          const value = readText(text);
          const expected = computeInteger(BigInt(whole + decimals), exponent - decimals.length);
          expect(value === null ? null : BigInt(value)).toBe(expected);
          expect(typeof value === 'number').toBe(value !== null && Number.isSafeInteger(Number(expected)));
        },
      ),
      { numRuns: countCases(3000) },
    );
  });
});

function computeInteger(mantissa: bigint, exponent: number): bigint | null {
  if (exponent >= 0) return mantissa * 10n ** BigInt(exponent);
  const divisor = 10n ** BigInt(-exponent);
  return mantissa % divisor === 0n ? mantissa / divisor : null;
}

function readText(text: string): number | bigint | null {
  const bytes = Buffer.from(` ${text}`);
  return readInteger(bytes, readDocument(bytes).root);
}
