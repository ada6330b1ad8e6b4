import { expect, test } from 'vitest';
import { Cells, type CountedCall } from './cells.ts';

function makeCall(changes: Partial<CountedCall> = {}): CountedCall {
  return {
    instance: 'prod',
    client: 'c1',
    model: 'res.partner',
    action: 'read',
    outcome: 'ok',
    sharedFrom: null,
    totalMs: 12,
    upstreamMs: 10,
    ...changes,
  };
}

function show(cells: Cells) {
  return Array.from(cells.list(), ({ instance, client, model, action, outcomes }) => ({
    names: [instance, client, model, action],
    outcomes: Object.fromEntries(outcomes),
  }));
}

test('counts calls by their names, outcomes and times', () => {
  const cells = new Cells();
  cells.add(makeCall());
  cells.add(makeCall({ outcome: 'user_error', sharedFrom: 'flight' }));
  cells.add(makeCall({ action: 'write', upstreamMs: null }));
  const [read, write] = [...cells.list()];
  expect(show(cells)).toEqual([
    { names: ['prod', 'c1', 'res.partner', 'read'], outcomes: { ok: 1, user_error: 1 } },
    { names: ['prod', 'c1', 'res.partner', 'write'], outcomes: { ok: 1 } },
  ]);
  expect(read).toMatchObject({ shared: 1, proxyMs: { count: 2 }, odooMs: { count: 2 } });
  expect(write).toMatchObject({ proxyMs: { count: 1 }, odooMs: { count: 0 } });
});

test('names that a caller made up are counted with its client', () => {
  const cells = new Cells();
  for (let index = 0; index < 1000; index++) {
    cells.add(makeCall({ model: `made.up.${index}`, outcome: 'model_not_found' }));
    cells.add(makeCall({ instance: `i${index}`, outcome: 'policy_denied' }));
  }
  expect(show(cells)).toEqual([
    { names: [null, 'c1', null, null], outcomes: { model_not_found: 1000, policy_denied: 1000 } },
  ]);
  cells.add(makeCall());
  cells.add(makeCall({ outcome: 'policy_denied' }));
  expect(show(cells)[1]).toEqual({
    names: ['prod', 'c1', 'res.partner', 'read'],
    outcomes: { ok: 1, policy_denied: 1 },
  });
});

test('the number of cells is bounded, and no call is lost', () => {
  const cells = new Cells();
  for (let index = 0; index < 5000; index++) cells.add(makeCall({ client: `c${index}` }));
  cells.addRefused('c9999', 'rate_limited', 7);
  const shown = show(cells);
  expect(shown.length).toBeLessThanOrEqual(302);
  const total = shown.flatMap(({ outcomes }) => Object.values(outcomes)).reduce((sum, count) => sum + count);
  expect(total).toBe(5007);
});
