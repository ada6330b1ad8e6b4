import { expect, test } from 'vitest';
import { findNear, readFields } from './fields.ts';

test('a text is compared with many fields in turns, so that other calls need not wait', async () => {
  const entries = Array.from({ length: 2000 }, (_, index) => [
    `x_field_${index}`,
    { type: 'char', string: `Label ${index}` },
  ]);
  const fields = readFields(Object.fromEntries(entries), null);
  let turns = 0;
  const count = () => {
    turns++;
    timer = setImmediate(count);
  };
  let timer = setImmediate(count);
  expect(await findNear(fields, 'label 1999', 5)).toContain('x_field_1999');
  clearImmediate(timer);
  expect(turns).toBeGreaterThan(10);
});
