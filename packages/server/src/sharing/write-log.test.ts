import { expect, test } from 'vitest';
import { WriteLog } from './write-log.ts';

test('says whether something was written since, to a model and to a database', () => {
  const log = new WriteLog();
  log.note('prod', 'res.partner');
  const since = log.count;
  expect([log.hasAny('prod', since), log.hasOf('prod', 'res.partner', since)]).toEqual([false, false]);
  log.note('prod', 'sale.order');
  expect([log.hasAny('prod', since), log.hasAny('test', since)]).toEqual([true, false]);
  expect([log.hasOf('prod', 'res.partner', since), log.hasOf('prod', 'sale.order', since)]).toEqual([
    false,
    true,
  ]);
  log.note('prod', null);
  expect([log.hasOf('prod', 'res.partner', since), log.hasOf('test', 'res.partner', since)]).toEqual([
    true,
    false,
  ]);
});

test('counts what it had to forget as written', () => {
  const log = new WriteLog();
  log.note('first', 'res.partner');
  const since = log.count - 1;
  for (let database = 0; database < 20_000; database++) log.note(String(database), 'res.partner');
  expect([log.hasAny('first', since), log.hasOf('first', 'res.partner', since)]).toEqual([true, true]);
  const now = log.count;
  expect([log.hasAny('first', now), log.hasOf('never written', 'res.partner', now)]).toEqual([false, false]);
});
