import { expect, test } from 'vitest';
import { expectCpuBelow } from '../../../test/time.ts';
import { readDocument } from './document.ts';

const NAMES = 8_000;

test('a map of many names takes as long as many maps of few names', async () => {
  const lines = Array.from({ length: NAMES }, (_, index) => `  name${index}: 1\n`);
  const few = lines.map((line, index) => (index % 100 === 0 ? `group${index}:\n${line}` : line));
  const read = (text: string) => expect(readDocument(text, 'closed')).not.toHaveProperty('errors');
  await expectCpuBelow(
    3,
    () => read(`group:\n${lines.join('')}`),
    () => read(few.join('')),
  );
});

test('a name that stands twice is reported at its line, in a block and between brackets', () => {
  const message = 'this name stands twice in its group; keep one';
  expect(readDocument('a: 1\nb: {c: 1,\n  "c": 2}\na: 3\n', 'closed')).toEqual({
    errors: [
      { line: 3, message },
      { line: 4, message },
    ],
  });
});
