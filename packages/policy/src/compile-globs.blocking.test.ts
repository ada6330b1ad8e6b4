import { expect, test } from 'vitest';
import { BLOCKED_MS_MAX, measureBlocking } from '../../server/test/measure-blocking.ts';
import { FieldRules } from './field-rules.ts';

test('rules with very many patterns do not keep the event loop', async () => {
  const deny = Array.from({ length: 950 }, (_, index) => `*x${index}q*`);
  const check = async () => {
    const rules = new FieldRules({ 'res.partner': { deny } });
    for (let field = 0; field < 2000; field++) rules.findDenying('res.partner', `field_${field}`);
  };
  expect(await measureBlocking(check)).toBeLessThan(BLOCKED_MS_MAX);
});
