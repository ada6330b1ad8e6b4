import { expect, test } from 'vitest';
import { openEnvironment } from '../../test/open-environment.ts';

test('users have the fields of their contacts, and writes go there', () => {
  const { call, readOne, search } = openEnvironment();
  expect(readOne('res.users', 2, ['email', 'phone', 'country_id'])).toEqual({
    id: 2,
    email: 'admin@yourcompany.example.com',
    phone: '+1 415 555 0103',
    country_id: [233, 'United States'],
  });
  call('res.users', 'write', [[8], { phone: '1' }]);
  expect(readOne('res.partner', 8, ['phone'])['phone']).toBe('1');
  expect(search('res.users', [['phone', '=', '1']])).toEqual([8]);
});
