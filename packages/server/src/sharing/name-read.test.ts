import { expect, test } from 'vitest';
import { type NamedRead, nameRead } from './name-read.ts';

const READ = {
  credentialsId: 'of-one-user',
  instanceId: null,
  model: 'res.partner',
  method: 'read',
  params: Buffer.from('[[1]]'),
  keyword: Buffer.from('{"context":{"allowed_company_ids":[1]}}'),
};

test('equal reads have the same name', () => {
  expect(nameRead({ ...READ, params: Buffer.from('[[1]]') })).toBe(nameRead(READ));
});

test.each<Partial<NamedRead>>([
  { credentialsId: 'of-another-user' },
  { instanceId: 'prod' },
  { model: 'res.users' },
  { method: 'web_read' },
  { params: Buffer.from('[[2]]') },
  { params: Buffer.from('[[1] ]') },
  { keyword: Buffer.from('{"context":{"allowed_company_ids":[2]}}') },
  { keyword: Buffer.from('{"limit":80,"context":{"allowed_company_ids":[1]}}') },
])('a different read has a different name: %j', (change) => {
  expect(nameRead({ ...READ, ...change })).not.toBe(nameRead(READ));
});

test('the bytes of one member cannot be mistaken for those of another', () => {
  const [params, keyword] = [Buffer.from('[["{}"]]'), Buffer.from('{}')];
  const moved = { params: Buffer.from('[["{}"]]{'), keyword: Buffer.from('}') };
  expect(nameRead({ ...READ, params, keyword })).not.toBe(nameRead({ ...READ, ...moved }));
  expect(nameRead({ ...READ, model: 'a","b', method: 'c' })).not.toBe(
    nameRead({ ...READ, model: 'a', method: 'b","c' }),
  );
});

test('a read with long arguments has no name, and a name reveals nothing of its read', () => {
  expect(nameRead({ ...READ, params: Buffer.alloc(256 * 1024) })).toBeNull();
  expect(nameRead(READ)).toMatch(/^[A-Za-z0-9+/]{43}=$/);
});
