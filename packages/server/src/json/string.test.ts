import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readDocument } from './document.ts';
import { printedJson } from './printed-json.fixture.ts';
import { decodeString } from './string.ts';

describe('a decoded string', () => {
  test('is what JSON.parse reads', () => {
    const strings = printedJson.filter(({ kind }) => kind === 'string');
    fc.assert(
      fc.property(strings, fc.boolean(), ({ text }, isBuffer) => {
        const memory = Buffer.from(`  ${text}`);
        const bytes = isBuffer ? memory.subarray(1) : new Uint8Array(memory).subarray(1);
        expect(decodeString(bytes, readDocument(bytes).root)).toBe(JSON.parse(text));
      }),
      { numRuns: 500 },
    );
  });

  test('keeps escaped lone surrogates', () => {
    const bytes = Buffer.from('"\\ud800x"');
    expect(decodeString(bytes, { start: 0, end: bytes.length })).toBe('\ud800x');
  });
});
