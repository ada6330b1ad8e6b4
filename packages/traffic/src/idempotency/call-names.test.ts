import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { countTurns } from '../../../server/test/watch-turns.ts';
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

test('a call has the same name on every replica, and another name under another secret', async () => {
  const name = await nameCall(CALL);
  const other = await createCallNames(new Uint8Array(32).fill(2))(CALL);
  expect(await createCallNames(new Uint8Array(32).fill(1))(CALL)).toEqual(name);
  expect(other.id).not.toBe(name.id);
  expect(other.fingerprint).not.toBe(name.fingerprint);
});

test('a long call has the name that its bytes have at once, and other calls run while it is named', async () => {
  const secret = new Uint8Array(32).fill(1);
  const bytes = Buffer.alloc(3_000_001, 'abc');
  const hash = createHmac('sha256', secret)
    .update(JSON.stringify(['call', 'execute']))
    .update(bytes);
  let fingerprint = '';
  const turns = await countTurns(async () => {
    ({ fingerprint } = await nameWith({ bytes }));
  });
  expect(fingerprint).toBe(hash.digest('hex'));
  expect(turns).toBeGreaterThan(4);
});

test.each<Partial<CallIdentity>>([
  { clientId: 'app' },
  { key: 'order 18' },
  { key: 'ORDER 17' },
  { index: 1 },
  // Parts that would give the same text if they were concatenated.
  { clientId: 'shop"', key: ',"order 17' },
  { clientId: 'sho', key: 'porder 17' },
])('%j gives another id for the same call', async (changes) => {
  const [name, other] = [await nameCall(CALL), await nameWith(changes)];
  expect(other.id).not.toBe(name.id);
  expect(other.fingerprint).toBe(name.fingerprint);
});

test.each<[string, Partial<CallIdentity>]>([
  ['one space more', { bytes: Buffer.from('{"action": "create"}') }],
  ['no body', { bytes: Buffer.from('') }],
  ['another operation', { operation: 'json2' }],
])('%s gives another call under the same id', async (_, changes) => {
  const [name, other] = [await nameCall(CALL), await nameWith(changes)];
  expect(other.fingerprint).not.toBe(name.fingerprint);
  expect(other.id).toBe(name.id);
});

test('a key is a text of 1 to 255 characters', () => {
  for (const key of ['a', '"8e03978e"', 'é ; , =', 'x'.repeat(255)]) expect(isIdempotencyKey(key)).toBe(true);
  for (const key of ['', 'x'.repeat(256), 'x'.repeat(10_240)]) expect(isIdempotencyKey(key)).toBe(false);
});
