import fc from 'fast-check';
import { expect, test } from 'vitest';
import { countCases } from '../../server/test/random-cases.ts';
import { printedDocument } from '../test/printed-json.ts';
import { readMembers, readMembersInSlices } from './members.ts';
import { skipWhiteSpace } from './scan.ts';
import { skipValue, skipValueInSlices } from './skip.ts';

function finish<Result>(slices: Generator<undefined, Result, undefined>): { result: Result; pauses: number } {
  let pauses = 0;
  for (let step = slices.next(); ; step = slices.next(), pauses++)
    if (step.done) return { result: step.value, pauses };
}

function settle(read: () => unknown): unknown {
  try {
    return read();
  } catch (error) {
    return error;
  }
}

/** Slices that end anywhere, also within escapes, words and characters. */
const sliceBytes = fc.oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 250, max: 600 }));
/** Strings that consist mainly of backslashes and quotes. */
const escapes = fc
  .array(fc.oneof(fc.constantFrom('\\\\', '\\"', 'x'), fc.constant('\\\\'.repeat(150))), { maxLength: 30 })
  .map((pieces) => `["${pieces.join('')}", "${pieces.join('')}\\\\"]`);

test('the end of a value is the same in slices of any length', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        printedDocument.map(({ text }) => text),
        escapes,
      ),
      sliceBytes,
      (text, size) => {
        const bytes = Buffer.from(`${text},"x"`);
        const start = skipWhiteSpace(bytes, 0, bytes.length);
        const { result, pauses } = finish(skipValueInSlices(bytes, start, size));
        expect(result).toBe(skipValue(bytes, start));
        expect(pauses).toBeLessThanOrEqual((result - start) / size);
      },
    ),
    { numRuns: countCases(2000) },
  );
});

test('so are the members of an object', () => {
  fc.assert(
    fc.property(printedDocument, sliceBytes, fc.integer({ min: 0, max: 9 }), ({ text, root }, size, most) => {
      if (root.kind !== 'object') return;
      const bytes = Buffer.from(text);
      const start = skipWhiteSpace(bytes, 0, bytes.length);
      const object = { kind: 'object', start, end: skipValue(bytes, start) } as const;
      const { result } = finish(readMembersInSlices(bytes, object, most, size));
      expect(result).toEqual(
        readMembers(bytes, object, most).map((member, index) => {
          const isLong = Buffer.byteLength(root.members[index]!.nameText) > 1024;
          return isLong ? { ...member, name: '' } : member;
        }),
      );
    }),
    { numRuns: countCases(2000) },
  );
});

test('unchecked bytes end in slices, too, with the same result or error', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'{}[]",:\\1t ') }), sliceBytes, (text, size) => {
      const bytes = Buffer.from(`{${text}`);
      const object = { kind: 'object', start: 0, end: bytes.length } as const;
      expect(finish(skipValueInSlices(bytes, 0, size)).result).toBe(skipValue(bytes, 0));
      const read = () => finish(readMembersInSlices(bytes, object, 100, size)).result;
      expect(settle(read)).toEqual(settle(() => readMembers(bytes, object, 100)));
    }),
    { numRuns: countCases(2000) },
  );
});

test('there is a pause after each slice, in strings, lists and objects', () => {
  for (const text of [
    `"${'\\"'.repeat(5000)}"`,
    `[${'1,'.repeat(5000)}1]`,
    `{"a":"${'x'.repeat(9000)}","b":1}`,
    `{${'"a":1,'.repeat(2000)}"b":1}`,
  ]) {
    const bytes = Buffer.from(text);
    const atLeast = bytes.length / 1000 - 2;
    expect(finish(skipValueInSlices(bytes, 0, 1000)).pauses).toBeGreaterThan(atLeast);
    if (!text.startsWith('{')) continue;
    const object = { kind: 'object', start: 0, end: bytes.length } as const;
    expect(finish(readMembersInSlices(bytes, object, 1e6, 1000)).pauses).toBeGreaterThan(atLeast);
  }
});

test('a name of more than 1 KiB is not decoded', () => {
  const bytes = Buffer.from(JSON.stringify({ [`${'"'.repeat(2000)}`]: 1, a: 2 }));
  const object = { kind: 'object', start: 0, end: bytes.length } as const;
  expect(finish(readMembersInSlices(bytes, object, 9, 100)).result.map(({ name }) => name)).toEqual([
    '',
    'a',
  ]);
});
