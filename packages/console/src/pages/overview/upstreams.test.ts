import type { InstanceView, UpstreamView } from '@erp-proxy/contract';
import { expect, test } from 'vitest';
import { findInstances, sortUpstreams } from './upstreams.ts';

const UPSTREAM = { breaker: 'closed', waiting: 0, running: 0 };

test('databases in trouble come first, then the busy ones', () => {
  const upstreams = [
    { ...UPSTREAM, database: 'quiet' },
    { ...UPSTREAM, database: 'busy', running: 3 },
    { ...UPSTREAM, database: 'probed', breaker: 'half_open' },
    { ...UPSTREAM, database: 'waited for', waiting: 1 },
    { ...UPSTREAM, database: 'away', breaker: 'open' },
  ] as UpstreamView[];
  const names = sortUpstreams(upstreams).map(({ database }) => database);
  expect(names).toEqual(['away', 'probed', 'waited for', 'busy', 'quiet']);
});

test('finds the stored instances of a database', () => {
  const instances = [
    { name: 'shop', url: 'https://odoo.example.com/', db: 'shop' },
    { name: 'other database', url: 'https://odoo.example.com', db: 'shop2' },
    { name: 'other server', url: 'https://odoo.example.com:8443', db: 'shop' },
    { name: 'here', url: 'http://localhost:8069', db: 'demo' },
  ] as InstanceView[];
  const find = (database: string) => findInstances({ database }, instances).map(({ name }) => name);
  expect(find('https://odoo.example.com shop')).toEqual(['shop']);
  expect(find('https://odoo.example.com ab12 shop')).toEqual(['shop']);
  expect(find('http://127.0.0.1:8069 demo')).toEqual(['here']);
});
