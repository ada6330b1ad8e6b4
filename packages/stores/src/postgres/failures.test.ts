import { expect, test } from 'vitest';
import { StoreError } from '../store-error.ts';
import { throwStoreError } from './failures.ts';

// store.test.ts and tls.test.ts test the failures that can be caused on a real server.
test.each([
  [failure('password authentication failed for user "erp"', '28P01'), /refuses this user from here/],
  [failure('SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string'), /asks for a password/],
  [failure('sorry, too many clients already', '53300'), /Raise its max_connections/],
  [failure('the database system is starting up', '57P03'), /Try again/],
  [failure('cannot execute LISTEN during recovery', '25006'), /name the primary in store\.url/],
  [
    failure('cannot execute INSERT in a read-only transaction', '25006'),
    /see its setting default_transaction_read_only/,
  ],
  [failure('', 'ECONNREFUSED'), /cannot be reached/],
  [failure('certificate has expired', 'CERT_HAS_EXPIRED'), /Renew it/],
  [failure('Query read timeout'), /does not answer in time/],
  [failure('timeout exceeded when trying to connect'), /does not answer in time/],
  [failure('Connection terminated unexpectedly'), /broke the connection off/],
  [failure('Client has encountered a connection error and is not queryable'), /broke the connection off/],
  [failure('unsupported startup parameter: statement_timeout', '08P01'), /ignore_startup_parameters/],
  [failure('value too long', '22001'), /: value too long$/],
  [new StoreError('it is too new.'), /: it is too new\.$/],
  ['no error at all', /: no error at all$/],
])('says what to do about: %s', (error, says) => {
  const run = () => throwStoreError('postgres db/erp', error);
  expect(run).toThrow(StoreError);
  expect(run).toThrow(/^The store postgres db\/erp cannot be used: /);
  expect(run).toThrow(says);
});

function failure(message: string, code?: string): Error {
  return Object.assign(new Error(message), code === undefined ? {} : { code });
}
