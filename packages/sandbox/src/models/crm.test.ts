import { expect, test } from 'vitest';
import { openEnvironment } from '../../test/open-environment.ts';

const fields = ['type', 'active', 'stage_id', 'probability'];

test('a lost lead is archived, and a won one is in the won stage', () => {
  const { call, readOne, search } = openEnvironment();
  expect(call('crm.lead', 'action_set_lost', [[2]])).toBeUndefined();
  expect(search('crm.lead', [])).toEqual([3, 1]);
  expect(readOne('crm.lead', 2, fields)).toMatchObject({
    type: 'opportunity',
    active: false,
    probability: { value: 0 },
  });
  expect(call('crm.lead', 'action_set_won', [[2]])).toBe(true);
  expect(readOne('crm.lead', 2, fields)).toMatchObject({
    active: true,
    stage_id: [4, 'Won'],
    probability: { value: 100 },
  });
});

test('a lead that is moved to a won stage is won', () => {
  const { call, readOne, search } = openEnvironment();
  const [won] = search('crm.stage', [['is_won', '=', true]]);
  call('crm.lead', 'write', [[3], { stage_id: won! }]);
  expect(readOne('crm.lead', 3, ['probability'])).toMatchObject({ probability: { value: 100 } });
});
