import { expect, test } from 'vitest';
import { check, openAudit, RANGE } from '../../server/test/admin/recorded-calls.ts';
import { BLOCKED_MS_MAX, measureBlocking } from '../../server/test/measure-blocking.ts';
import { monotonicMs } from '../../server/test/time.ts';
import { comparePolicy } from './policy-admin.ts';

test('leaves the event loop free, however many calls there are', async () => {
  const audit = await openAudit(40_000, (index) => `x.model.${index}`);
  const compare = () => comparePolicy(RANGE, { audit, check, nowMs: monotonicMs });
  expect(await measureBlocking(compare)).toBeLessThan(BLOCKED_MS_MAX);
});
