import { expect, test } from 'vitest';
import { readDocument } from './document.ts';

const NAMES = 12_000;

test('a map of many names takes as long as many maps of few names', () => {
  const lines = Array.from({ length: NAMES }, (_, index) => `  name${index}: 1\n`);
  const few = lines.map((line, index) => (index % 100 === 0 ? `group${index}:\n${line}` : line));
  measure(few.join(''));
  expect(measure(`group:\n${lines.join('')}`) / measure(few.join(''))).toBeLessThan(3);
}, 120_000);

/** Processor time in microseconds. */
function measure(text: string): number {
  const before = process.cpuUsage();
  expect(readDocument(text, 'closed')).not.toHaveProperty('errors');
  return process.cpuUsage(before).user;
}

test('a name that stands twice is reported at its line, in a block and between brackets', () => {
  const message = 'this name stands twice in its group; keep one';
  expect(readDocument('a: 1\nb: {c: 1,\n  "c": 2}\na: 3\n', 'closed')).toEqual({
    errors: [
      { line: 3, message },
      { line: 4, message },
    ],
  });
});
