import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { StoreError } from '../store-error.ts';
import { readPostgresAddress } from './address.ts';

const FILE = fileURLToPath(import.meta.url);

test('reads every part of a URL, and decodes it', () => {
  expect(
    readPostgresAddress(
      'postgresql://erp%40x:p%40ss%2F%25@[::1]:5433/my%20db?options=-c%20search_path%3Derp&sslmode=disable',
    ),
  ).toEqual({
    label: 'postgres ::1/my db',
    host: '::1',
    port: 5433,
    user: 'erp@x',
    password: 'p@ss/%',
    database: 'my db',
    options: '-c search_path=erp',
    ssl: false,
    isTlsOptional: false,
  });
});

test('accepts the folder of a socket as host', () => {
  expect(readPostgresAddress('postgres://erp@%2Fvar%2Frun%2Fpostgresql/erp')).toMatchObject({
    host: '/var/run/postgresql',
    port: 5432,
    ssl: false,
  });
});

describe('TLS', () => {
  test.each(['localhost', '127.0.0.1', '127.8.8.8', '[::1]', '%2Frun'])(
    'is not used on the same machine (%s)',
    (host) => expect(read(host).ssl).toBe(false),
  );

  test.each(['db', '10.0.0.1', 'localhost.example.com', '127.0.0.1.example.com'])(
    'is verified for another machine (%s) by default',
    (host) => expect(read(host)).toMatchObject({ ssl: {}, isTlsOptional: false }),
  );

  test('is verified if a certificate authority is given, also on the same machine', () => {
    expect(read('localhost', `sslrootcert=${FILE}`).ssl).toEqual({ ca: expect.stringContaining('TLS') });
  });

  test.each([
    ['disable', false, false],
    ['prefer', { rejectUnauthorized: false }, true],
    ['no-verify', { rejectUnauthorized: false }, false],
    ['require', {}, false],
    ['verify-full', {}, false],
  ])('follows sslmode=%s', (mode, ssl, isTlsOptional) => {
    expect(read('db', `sslmode=${mode}`)).toMatchObject({ ssl, isTlsOptional });
  });
});

test.each([
  ['postgres://erp:hunter2@', /not an address/],
  ['postgres:///erp', /names no host/],
  ['postgres://db/erp', /names no user/],
  ['postgres://erp:hunter2@db', /names no database/],
  ['postgres://erp:hunter2@db/', /names no database/],
  ['postgres://erp:hunter2@a,b/erp', /several hosts/],
  ['postgres://erp:hunter2@db:x/erp', /not an address/],
  ['postgres://erp:hunter2%@db/erp', /password in store\.url has a %/],
  ['postgres://erp:hunter2@db/erp?sslmod=require', /"sslmod"; known are sslmode, sslrootcert, options/],
  ['postgres://erp:hunter2@db/erp?sslmode=allow', /sslmode "allow"; known are disable/],
  ['postgres://erp:hunter2@db/erp?sslmode=verify-ca', /verify-ca without sslrootcert/],
  ['postgres://erp:hunter2@db/erp?sslrootcert=/none.pem', /\/none\.pem, cannot be read \(ENOENT\)/],
])('refuses %s with a reason, without the password', (url, says) => {
  expect(() => readPostgresAddress(url)).toThrow(says);
  expect(() => readPostgresAddress(url)).toThrow(StoreError);
  expect(() => readPostgresAddress(url)).toThrow(/^(?!.*hunter2)/);
});

function read(host: string, query = '') {
  return readPostgresAddress(`postgres://erp@${host}/erp?${query}`);
}
