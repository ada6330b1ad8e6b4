import { expect, test } from 'vitest';
import { maskValue } from './mask.ts';

test('masks a secret, but shows that none is set', () => {
  expect(maskValue('keys.hashSecret', 'hunter2')).toBe('***');
  expect(maskValue('keys.hashSecret', ['hunter2'])).toBe('***');
  expect(maskValue('keys.hashSecret', null)).toBe(null);
  expect(maskValue('vault.otherMasterKeys', [])).toEqual([]);
});

test.each([
  ['postgres://me:hunter2@host/db', 'postgres://***@host/db'],
  ['postgres://me:hun//ter2@host/db', 'postgres://***@host/db'],
  ['postgres://me:hunter2@@host/db', 'postgres://***@host/db'],
  ['me:hunter2@host', '***@host'],
  ['sqlite:./data/erp-proxy.db', 'sqlite:./data/erp-proxy.db'],
])('shows %s without its password', (url, shown) => {
  expect(maskValue('store.url', url)).toBe(shown);
  expect(maskValue('egress.allow', ['10.0.0.0/8', url])).toEqual(['10.0.0.0/8', shown]);
});

test('does not change numbers', () => {
  expect(maskValue('http.port', 8787)).toBe(8787);
});
