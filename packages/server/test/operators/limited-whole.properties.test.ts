/** Statistics, and what concerns the whole proxy, for an operator who is limited to the instances of one customer. */
import { ADMIN_ROUTES } from '@erp-proxy/http/admin/table';
import { expect, test } from 'vitest';
import { KINDS, testLimited } from './limited.ts';

testLimited('whole');

test('each route is asked by one of the files', () => {
  const routes = ADMIN_ROUTES.filter(({ isOpen }) => !isOpen);
  const folders = new Set(routes.map(({ path }) => path.split('/')[1]));
  expect(Object.values(KINDS).flat().toSorted()).toEqual([...folders].toSorted());
});
