import { describe, expect, test } from 'vitest';
import { readDocument } from './document.ts';
import { readElements } from './elements.ts';

describe('the elements of an array', () => {
  test('are visited in their order', () => {
    expect(listElements(' [ 1.0 , "],[" ,[2,[3]],{"a":[4]},\ttrue,null ] ')).toEqual([
      '1.0',
      '"],["',
      '[2,[3]]',
      '{"a":[4]}',
      'true',
      'null',
    ]);
    expect(listElements('[ ]')).toEqual([]);
  });

  test('are visited until the visitor gives false', () => {
    expect(listElements('[1,2,3,4]', 2)).toEqual(['1', '2']);
  });

  test('can be a million', () => {
    const bytes = Buffer.from(`[${Array.from({ length: 1_000_000 }, (_, index) => index).join(',')}]`);
    let count = 0;
    readElements(bytes, readDocument(bytes).root, () => {
      count++;
      return undefined;
    });
    expect(count).toBe(1_000_000);
  });

  test('end also in unchecked bytes', () => {
    for (const text of ['[', '[1', '[1,', '["a', '[[', '[]]', '[,,', '[:']) {
      const bytes = Buffer.from(text);
      readElements(bytes, { kind: 'array', start: 0, end: bytes.length }, () => true);
    }
  });
});

function listElements(text: string, countMax = Infinity): string[] {
  const bytes = Buffer.from(text);
  const texts: string[] = [];
  readElements(bytes, readDocument(bytes).root, ({ start, end }) => {
    texts.push(bytes.toString('utf8', start, end));
    return texts.length < countMax;
  });
  return texts;
}
