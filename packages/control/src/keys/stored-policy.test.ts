import { expect, test } from 'vitest';
import { readStoredPolicy } from './stored-policy.ts';

test('a publishable policy without fields is read if it was stored before they were needed', () => {
  const policy = {
    instances: ['prod'],
    models: { 'res.country': ['read'] },
    read_only: true,
    cors_origins: ['https://shop.example.com'],
    publishable: true,
  };
  expect(readStoredPolicy({ id: 'k1', policy: JSON.stringify(policy) })).toEqual(policy);
});
