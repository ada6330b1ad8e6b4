import fc from 'fast-check';
import { expect, test } from 'vitest';
import { countCases } from '../../../server/test/random-cases.ts';
import { Base64Decoder, Base64Error } from './base64.ts';

/** Decodes a text in pieces, which end at `cuts`. */
function decode(text: string, cuts: readonly number[] = []): Buffer {
  const decoder = new Base64Decoder();
  const places = [...cuts.map((cut) => cut % (text.length + 1)), text.length].sort((a, b) => a - b);
  const decoded: Uint8Array[] = [];
  let from = 0;
  for (const to of places) {
    decoded.push(decoder.decode(Buffer.from(text.slice(from, to), 'latin1')));
    from = to;
  }
  decoder.end();
  return Buffer.concat(decoded);
}

/** Wraps a value into lines as Odoo does: JSON escapes stand for the line ends. */
function wrap(text: string, width: number): string {
  return text.replaceAll(new RegExp(`.{${width}}`, 'g'), '$&\\n');
}

const bytes = fc.uint8Array({ maxLength: 400 });
const cuts = fc.array(fc.nat(), { maxLength: 12 });

test('any bytes, in lines of any width and cut anywhere, are decoded as they were', () => {
  fc.assert(
    fc.property(
      bytes,
      fc.integer({ min: 1, max: 80 }),
      fc.boolean(),
      cuts,
      (file, width, isWrapped, places) => {
        const text = Buffer.from(file).toString('base64');
        expect(decode(isWrapped ? wrap(text, width) : text, places)).toEqual(Buffer.from(file));
      },
    ),
    { numRuns: countCases(1000) },
  );
});

test('a text with one character that is no digit is refused, wherever it is cut', () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ minLength: 1, maxLength: 60 }),
      fc.nat(),
      fc.constantFrom(...' !%&*,.:;<>?@[]^`{|}~\\', '\u0000', '\u00e9'),
      cuts,
      (file, place, character, places) => {
        const text = Buffer.from(file).toString('base64');
        const at = place % (text.length + 1);
        // `\/` is the escape of a digit.
        fc.pre(character !== '\\' || text[at] !== '/');
        expect(() => decode(text.slice(0, at) + character + text.slice(at), places)).toThrow(Base64Error);
      },
    ),
    { numRuns: countCases(1000) },
  );
});

test.each([
  'A',
  'AA',
  'AAA',
  'AAAAA',
  'AA=A',
  '=AAA',
  'AA==AAAA',
  'AAA=AAAA',
  '====',
  'A===',
  '\\u0041AAA',
  'AAAA\\',
  'AA-A',
  'AAA_AAAA',
  // A token, which is not a file.
  '1b4e28ba-2fa1-11d2-883f-0016d3cca427',
])('refuses %s', (text) => {
  expect(() => decode(text)).toThrow(Base64Error);
  expect(() => decode(text, [1, 2, 3, 4, 5])).toThrow(Base64Error);
});

test('the escaped slash is a digit', () => {
  expect(decode('\\/\\/\\/\\/')).toEqual(Buffer.from('////', 'base64'));
});
