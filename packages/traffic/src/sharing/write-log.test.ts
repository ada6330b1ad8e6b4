import { expect, test } from 'vitest';
import { WriteLog } from './write-log.ts';

test('reports writes to a model and to a database since a given write', () => {
  const log = new WriteLog();
  log.add('prod', 'res.partner');
  const since = log.count;
  expect([log.hasWrite('prod', since), log.hasModelWrite('prod', 'res.partner', since)]).toEqual([
    false,
    false,
  ]);
  log.add('prod', 'sale.order');
  expect([log.hasWrite('prod', since), log.hasWrite('test', since)]).toEqual([true, false]);
  expect([
    log.hasModelWrite('prod', 'res.partner', since),
    log.hasModelWrite('prod', 'sale.order', since),
  ]).toEqual([false, true]);
  log.add('prod', null);
  expect([
    log.hasModelWrite('prod', 'res.partner', since),
    log.hasModelWrite('test', 'res.partner', since),
  ]).toEqual([true, false]);
});

test('counts an evicted entry as written', () => {
  const log = new WriteLog();
  log.add('first', 'res.partner');
  const since = log.count - 1;
  for (let database = 0; database < 20_000; database++) log.add(String(database), 'res.partner');
  expect([log.hasWrite('first', since), log.hasModelWrite('first', 'res.partner', since)]).toEqual([
    true,
    true,
  ]);
  const now = log.count;
  expect([log.hasWrite('first', now), log.hasModelWrite('never written', 'res.partner', now)]).toEqual([
    false,
    false,
  ]);
});
