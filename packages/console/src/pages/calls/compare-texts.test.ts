import { expect, test } from 'vitest';
import { compareTexts } from './compare-texts.ts';

function print(from: string, to: string): string {
  const marks = { same: ' ', removed: '-', added: '+' };
  return compareTexts(from, to)
    .map(({ change, text }) => marks[change] + text)
    .join('\n');
}

test('keeps the lines that did not change', () => {
  expect(print('a\nb\nc\nd', 'a\nx\nc\nd\ne')).toBe(' a\n-b\n+x\n c\n d\n+e');
  expect(print('same', 'same')).toBe(' same');
  expect(print('a\nb', 'a')).toBe(' a\n-b');
  expect(print('a\na', 'a\na\na')).toBe(' a\n a\n+a');
  expect(print('[\n1\n]', '[\n1,\n2\n]')).toBe(' [\n 1,\n+2\n ]');
});

test('long texts without a common line are compared at once', () => {
  const lines = (name: string) => Array.from({ length: 5_000 }, (_, index) => `${name}${index}`).join('\n');
  const compared = compareTexts(`first\n${lines('a')}`, `first\n${lines('b')}`);
  expect(compared).toHaveLength(10_001);
  expect(compared[0]).toEqual({ change: 'same', text: 'first' });
});

test('both texts can be read from the comparison', () => {
  let seed = Date.now() % 2_147_483_647;
  const message = `seed ${seed}`;
  const pick = (count: number) => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % count;
  };
  for (let round = 0; round < 300; round++) {
    const make = () => Array.from({ length: 1 + pick(8) }, () => 'abc'[pick(3)]).join('\n');
    const [from, to] = [make(), make()];
    const lines = compareTexts(from, to);
    const join = (left: string) =>
      lines
        .filter(({ change }) => change !== left)
        .map(({ text }) => text)
        .join('\n');
    expect(join('added'), message).toBe(from);
    expect(join('removed'), message).toBe(to);
  }
});
