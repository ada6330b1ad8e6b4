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

test('reads that are the same have one name', () => {
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
])('another one has another: %j', (change) => {
  expect(nameRead({ ...READ, ...change })).not.toBe(nameRead(READ));
});

test('what stands in one part cannot be taken for another', () => {
  const [params, keyword] = [Buffer.from('[["{}"]]'), Buffer.from('{}')];
  const moved = { params: Buffer.from('[["{}"]]{'), keyword: Buffer.from('}') };
  expect(nameRead({ ...READ, params, keyword })).not.toBe(nameRead({ ...READ, ...moved }));
  expect(nameRead({ ...READ, model: 'a","b', method: 'c' })).not.toBe(
    nameRead({ ...READ, model: 'a', method: 'b","c' }),
  );
});

test('a read with long arguments has none, and a name holds nothing of its read', () => {
  expect(nameRead({ ...READ, params: Buffer.alloc(256 * 1024) })).toBeNull();
  expect(nameRead(READ)).toMatch(/^[A-Za-z0-9+/]{43}=$/);
});
