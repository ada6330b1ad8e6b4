import { expect, test } from 'vitest';
import { type CallIdentity, createCallNames, isIdempotencyKey } from './call-names.ts';

const nameCall = createCallNames(new Uint8Array(32).fill(1));
const CALL: CallIdentity = {
  clientId: 'shop',
  key: 'order 17',
  index: 0,
  operation: 'execute',
  bytes: Buffer.from('{"action":"create"}'),
};
const nameWith = (changes: Partial<CallIdentity>) => nameCall({ ...CALL, ...changes });

test('a call has the same name on every replica, and another name under another secret', () => {
  const other = createCallNames(new Uint8Array(32).fill(2))(CALL);
  expect(createCallNames(new Uint8Array(32).fill(1))(CALL)).toEqual(nameCall(CALL));
  expect(other.id).not.toBe(nameCall(CALL).id);
  expect(other.fingerprint).not.toBe(nameCall(CALL).fingerprint);
});

test.each<Partial<CallIdentity>>([
  { clientId: 'app' },
  { key: 'order 18' },
  { key: 'ORDER 17' },
  { index: 1 },
  // Parts that plain concatenation would confuse.
  { clientId: 'shop"', key: ',"order 17' },
  { clientId: 'sho', key: 'porder 17' },
])('%j gives another id for the same call', (changes) => {
  expect(nameWith(changes).id).not.toBe(nameCall(CALL).id);
  expect(nameWith(changes).fingerprint).toBe(nameCall(CALL).fingerprint);
});

test.each<[string, Partial<CallIdentity>]>([
  ['one space more', { bytes: Buffer.from('{"action": "create"}') }],
  ['no body', { bytes: Buffer.from('') }],
  ['another operation', { operation: 'json2' }],
])('%s gives another call under the same id', (_, changes) => {
  expect(nameWith(changes).fingerprint).not.toBe(nameCall(CALL).fingerprint);
  expect(nameWith(changes).id).toBe(nameCall(CALL).id);
});

test('a key is a text of 1 to 255 characters', () => {
  for (const key of ['a', '"8e03978e"', 'é ; , =', 'x'.repeat(255)]) expect(isIdempotencyKey(key)).toBe(true);
  for (const key of ['', 'x'.repeat(256), 'x'.repeat(10_240)]) expect(isIdempotencyKey(key)).toBe(false);
});
