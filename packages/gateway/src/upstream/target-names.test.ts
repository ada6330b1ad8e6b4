import { parseBaseUrl } from '@erp-proxy/egress/policy';
import { describe, expect, test } from 'vitest';
import type { Target } from '../terms/target.ts';
import { nameDatabaseAcrossTrusts, nameDatabaseByTrust, nameServer, nameUser } from './target-names.ts';

function aim(url: string, changes: Partial<Target> = {}): Target {
  const address = parseBaseUrl(url);
  if ('problem' in address) throw new Error(address.problem);
  return {
    ...address,
    db: 'prod',
    userId: 2,
    apiKey: 'k',
    trust: null,
    instance: null,
    connection: null,
    credentialsId: 'c',
    ...changes,
  };
}

describe.each([
  ['for database limiters', nameDatabaseByTrust],
  ['for kept answers', nameDatabaseAcrossTrusts],
  ['for idempotency keys', nameUser],
])('the name of a database %s', (_for, name) => {
  test.each([
    'http://localhost:8069',
    'http://LOCALHOST:8069/',
    'http://[::1]:8069',
    'http://127.1:8069',
    'http://0x7f.1:8069',
    'http://[::ffff:127.0.0.1]:8069',
  ])('is that of 127.0.0.1 if the server is addressed as %s', (url) => {
    expect(name(aim(url))).toBe(name(aim('http://127.0.0.1:8069')));
  });

  test('is the same without a port', () => {
    expect(name(aim('https://localhost'))).toBe(name(aim('https://127.0.0.1')));
  });

  test.each([
    ['another port', aim('http://localhost:8070')],
    ['another scheme', aim('https://localhost:8069')],
    ['another path', aim('http://localhost:8069/odoo')],
    ['another database', aim('http://localhost:8069', { db: 'test' })],
    ['another address of the machine', aim('http://127.0.0.2:8069')],
    ['a name below localhost', aim('http://odoo.localhost:8069')],
    ['a name that begins like it', aim('http://localhost.example.com:8069')],
  ])('is another one with %s', (_what, other) => {
    expect(name(other)).not.toBe(name(aim('http://127.0.0.1:8069')));
  });
});

test('a server is named by the address as given, because its reverse proxy may route by host name', () => {
  expect(nameServer(aim('http://localhost:8069'))).toBe('http://localhost:8069');
});

test('a database that is reached with certificates of its own has a name of its own', () => {
  const trust = { id: 'abc' } as Target['trust'];
  expect(nameDatabaseByTrust(aim('http://localhost:8069', { trust }))).toBe('http://127.0.0.1:8069 abc prod');
});
