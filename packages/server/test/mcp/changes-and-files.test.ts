/** Tests the tools that move data: changes since an earlier answer, and the text of files. */

import { makePdf } from '@erp-proxy/agents/testing';
import { strToU8, zipSync } from 'fflate';
import { describe, expect, test } from 'vitest';
import { type SandboxVersion, type Stage, startStage } from './stage.ts';

/** Approximate maximum of an answer, in bytes. */
const ANSWER_BYTES_MAX = 8000;
const READING = ['read', 'search*', 'fields_get'];

async function createRecord({ proxy }: Stage, model: string, values: object): Promise<number> {
  const answer = await proxy.call({
    action: 'create',
    model_id: model,
    params: [values],
    erp_instance: { name: 'prod' },
  });
  expect(answer.json.error).toBeUndefined();
  return answer.json.result;
}

const createFile = (stage: Stage, name: string, content: string | Buffer, more: object = {}) =>
  createRecord(stage, 'ir.attachment', { name, datas: Buffer.from(content).toString('base64'), ...more });

describe.each([14, 16, 18, 19] as SandboxVersion[])('Odoo %i', (version) => {
  test('list_changes gives the records, then what changes', async () => {
    const stage = await startStage({ version });
    const { call, sandbox } = stage;
    const query = { model: 'res.partner', fields: ['name'], domain: [['name', 'like', 'Followed']] };
    const ids: number[] = [];
    for (let index = 0; index < 3; index++)
      ids.push(await createRecord(stage, 'res.partner', { name: `Followed ${index}` }));
    const first = await call('list_changes', { ...query, limit: 2 });
    expect(first.data).toMatchObject({
      changes: ids.slice(0, 2).map((id, index) => ({
        change: 'upsert',
        id,
        at: expect.stringMatching(/T\d\d:\d\d:\d\d[+-]\d\d:00$/),
        record: { id, name: `Followed ${index}` },
      })),
      more: true,
      note: expect.any(String),
    });
    const second = await call('list_changes', { ...query, since: first.data.cursor });
    expect(second.data.changes.map(({ id }: { id: number }) => id)).toEqual([ids[2]]);
    let cursor = second.data.cursor;
    for (let more = second.data.more; more; ) {
      const { data } = await call('list_changes', { ...query, since: cursor });
      ({ more, cursor } = data);
    }
    const transaction = sandbox.begin();
    transaction.write('res.partner', ids[0]!, { name: 'Followed again' });
    transaction.write('res.partner', ids[1]!, { name: 'Other' });
    transaction.commit();
    const changed = await call('list_changes', { ...query, since: cursor });
    const byId = new Map(changed.data.changes.map((one: { id: number }) => [one.id, one]));
    expect(byId.get(ids[0]!)).toMatchObject({ change: 'upsert', record: { name: 'Followed again' } });
    expect(byId.get(ids[1]!)).toEqual({ change: 'left', id: ids[1], at: expect.any(String) });
  });

  test('read_file gives the text of an attachment', async () => {
    const stage = await startStage({ version });
    const text = 'Name;Price\nDesk é;12\n';
    const id = await createFile(stage, 'prices.csv', text, { mimetype: 'text/csv' });
    const { data } = await stage.call('read_file', { model: 'ir.attachment', id });
    expect(data).toMatchObject({ name: 'prices.csv', type: 'text/csv', text });
    for (const member of ['download', 'clipped']) expect(data).not.toHaveProperty(member);
  });
});

test('the bounds of requests for changes hold for list_changes', async () => {
  const { call, connect } = await startStage({ settings: { 'data.clientRequestsMax': '1' } });
  const client = await connect();
  const list = () => call('list_changes', { model: 'res.partner', fields: ['name'] }, client);
  const results = await Promise.all(Array.from({ length: 6 }, list));
  const refused = results.filter(({ isError }) => isError);
  expect(refused.length).toBeGreaterThan(0);
  expect(refused.length).toBeLessThan(6);
  for (const { text } of refused) expect(text).toContain('rate_limited');
  expect((await list()).isError).toBe(false);
});

test('all changes come within the budget, whatever a record has', async () => {
  const stage = await startStage();
  const { call } = stage;
  const ids = new Set<number>();
  for (let index = 0; index < 60; index++)
    ids.add(
      await createRecord(stage, 'res.partner', {
        name: `Long ${index} ${'x'.repeat(190)}`,
        ref: 'y'.repeat(190),
      }),
    );
  const query = {
    model: 'res.partner',
    fields: ['name', 'ref'],
    domain: [['name', 'like', 'Long']],
    limit: 100,
  };
  const given = new Set<number>();
  let since: string | undefined;
  for (let more = true, turns = 0; more && turns < 20; turns++) {
    const { data, text } = await call('list_changes', {
      ...query,
      ...(since === undefined ? {} : { since }),
    });
    expect(text.length - data.cursor.length).toBeLessThan(ANSWER_BYTES_MAX);
    for (const { id, record } of data.changes) {
      expect(record.name).toContain('Long');
      given.add(id);
    }
    since = data.cursor;
    more = data.more;
  }
  expect(given).toEqual(ids);
});

test('a cursor of another key, model or domain is refused with what to do', async () => {
  const { call, connect, createKey } = await startStage();
  const query = { model: 'res.partner', fields: ['name'], limit: 1 };
  const { data } = await call('list_changes', query);
  const since = data.cursor;
  const other = await call('list_changes', { ...query, domain: [['id', '>', 1]], since });
  expect(other.text).toMatch(/^invalid_request: `domain` is not that of the cursor/);
  const policy = { instances: ['prod'], models: { '*': READING }, data: ['changes' as const] };
  const client = await connect({ key: await createKey(policy) });
  expect((await call('list_changes', { ...query, since }, client)).text).toMatch(
    /^invalid_request: .*cursor/,
  );
  const unknown = await call('list_changes', { ...query, fields: ['nmae'] });
  expect(unknown.text).toMatch(/^query_invalid: .*\nNearest names: name/);
});

test('fields that a policy denies are in no change and no file', async () => {
  const stage = await startStage();
  const { call, connect, createKey } = stage;
  const id = await createFile(stage, 'secret.txt', 'text');
  const policy = {
    instances: ['prod'],
    models: { '*': READING },
    fields: { 'res.partner': { deny: ['email'] }, 'ir.attachment': { deny: ['datas'] } },
    data: ['changes' as const, 'files' as const],
  };
  const client = await connect({ key: await createKey(policy) });
  const changes = await call('list_changes', { model: 'res.partner', fields: ['email'] }, client);
  expect(changes.text).toMatch(/^(policy_denied|query_invalid): /);
  const file = await call('read_file', { model: 'ir.attachment', id }, client);
  expect(file.text).toMatch(/^(policy_denied|query_invalid): /);
  expect((await call('list_changes', { model: 'res.partner' }, client)).text).not.toContain('"email"');
});

test('a long text is cut, and says how to get the whole file', async () => {
  const stage = await startStage();
  const text = '“Line” 😀\n'.repeat(3000);
  const id = await createFile(stage, 'long.txt', text, { mimetype: 'text/plain' });
  const { data, text: answer } = await stage.call('read_file', { model: 'ir.attachment', id });
  expect(data.clipped).toBe(true);
  expect(text.startsWith(data.text)).toBe(true);
  expect(data.text.isWellFormed()).toBe(true);
  expect(data.text.length).toBeGreaterThan(1000);
  expect(Buffer.byteLength(answer)).toBeLessThan(ANSWER_BYTES_MAX);
  expect(data.download).toContain(
    `POST /api/erp/download {"model_id":"ir.attachment","record":${id},"field":"datas","erp_instance":{"name":"prod"}}`,
  );
});

test.each<[string, Buffer, object, object]>([
  ['a PDF', Buffer.from('%PDF-1.7\n'), { mimetype: 'application/pdf' }, { type: 'application/pdf' }],
  ['bytes with a false media type', Buffer.from([0xff, 0x00, 0x41]), { mimetype: 'text/plain' }, {}],
  ['a large file', Buffer.alloc(600_000, 'a'), { mimetype: 'text/plain' }, {}],
])('of %s only name, type and size are given', async (_name, content, values, expected) => {
  const stage = await startStage();
  const id = await createFile(stage, 'file', content, values);
  const { data } = await stage.call('read_file', { model: 'ir.attachment', id });
  expect(data).toMatchObject({ name: 'file', download: expect.any(String), ...expected });
  expect(data.size).toBeGreaterThan(0);
  expect(data).not.toHaveProperty('text');
});

test('a binary field of a record, a field that is none, an empty one, and a record that does not exist', async () => {
  const stage = await startStage();
  const { call } = stage;
  const picture = await call('read_file', { model: 'res.partner', id: 3, field: 'image_1920' });
  expect(picture.data).toMatchObject({
    size: expect.any(Number),
    download: expect.stringContaining('image_1920'),
  });
  expect(picture.data).not.toHaveProperty('text');
  const empty = await createRecord(stage, 'res.partner', { name: 'No picture' });
  for (const [args, text] of [
    [{ model: 'res.partner', id: 3 }, /^invalid_params: `field` is needed/],
    [
      { model: 'res.partner', id: 3, field: 'name' },
      /^invalid_params: `field` must be a binary field: name is char/,
    ],
    [{ model: 'res.partner', id: empty, field: 'image_1920' }, /^invalid_params: image_1920 .* has no file/],
    [{ model: 'ir.attachment', id: 999_999 }, /^record_missing: /],
  ] as const)
    expect((await call('read_file', args)).text).toMatch(text);
});

test('each call is recorded as one of the agent', async () => {
  const stage = await startStage();
  const id = await createFile(stage, 'a.txt', 'a');
  await stage.call('read_file', { model: 'ir.attachment', id });
  await stage.call('list_changes', { model: 'res.partner', fields: ['name'], limit: 1 });
  const calls = stage.proxy.log.filter(({ msg, via }) => msg === 'call' && via === 'mcp');
  expect(calls.filter(({ model, method }) => model === 'ir.attachment' && method === 'read')).toHaveLength(2);
  expect(calls.some(({ model, method }) => model === 'res.partner' && method === 'search_read')).toBe(true);
});

test.each([
  ['image/png', '89504e470d0a1a0a0000000d49484452'],
  ['image/jpeg', 'ffd8ffe000104a464946'],
  ['image/gif', '4749463839610100'],
  ['image/webp', '5249464624000000574542505650382018000000'],
])('a picture comes as an image: %s', async (type, hex) => {
  const stage = await startStage();
  const content = Buffer.concat([Buffer.from(hex, 'hex'), Buffer.alloc(2000, 7)]);
  const id = await createFile(stage, 'photo', content, { mimetype: 'image/x-unknown' });
  const args = { model: 'ir.attachment', id };
  for (const mode of ['modern', 'legacy'] as const) {
    const client = await stage.connect({ mode });
    // The proxy answers the second call without the SDK.
    for (let count = 0; count < 2; count++) {
      const result = await client.callTool({ name: 'read_file', arguments: args });
      expect(result.content).toEqual([
        { type: 'text', text: JSON.stringify(result.structuredContent) },
        { type: 'image', data: content.toString('base64'), mimeType: type },
      ]);
      expect(result.structuredContent).toMatchObject({ name: 'photo', type });
    }
  }
});

test('the picture in a field of a record comes as an image', async () => {
  const stage = await startStage();
  const content = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(100)]);
  const values = { name: 'Chair', image_1920: content.toString('base64') };
  const id = await createRecord(stage, 'product.template', values);
  const client = await stage.connect();
  const args = { model: 'product.template', id, field: 'image_1920' };
  const { content: shown } = await client.callTool({ name: 'read_file', arguments: args });
  expect(shown).toContainEqual({ type: 'image', data: content.toString('base64'), mimeType: 'image/png' });
});

test('the text of a PDF and of an office file is read, and read on', async () => {
  const stage = await startStage();
  const pages = Array.from({ length: 290 }, (_, index) => `Page ${index} of the contract`);
  const word = `<w:p><w:t>${'Clause '.repeat(20_000)}</w:t></w:p>`;
  const files: [string, string, Buffer][] = [
    ['a.pdf', 'application/pdf', makePdf(...pages)],
    [
      'b.docx',
      'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
      Buffer.from(zipSync({ 'word/document.xml': strToU8(word) })),
    ],
  ];
  for (const [name, mimetype, content] of files) {
    const id = await createFile(stage, name, content, { mimetype });
    const { data } = await stage.call('read_file', { model: 'ir.attachment', id });
    expect(data).toMatchObject({ name, clipped: true, next: expect.any(Number) });
    expect(data.text).toMatch(/^(Page 0 of the contract\n|Clause )/);
    const { data: second } = await stage.call('read_file', { model: 'ir.attachment', id, offset: data.next });
    expect(second.text).toMatch(/Page|Clause/);
  }
});

test('a damaged PDF has name, type and size', async () => {
  const stage = await startStage();
  const id = await createFile(stage, 'a.pdf', `%PDF-1.4\n${'x'.repeat(500)}`, {
    mimetype: 'application/pdf',
  });
  const { data } = await stage.call('read_file', { model: 'ir.attachment', id });
  expect(data).toMatchObject({ name: 'a.pdf', type: 'application/pdf', download: expect.any(String) });
  expect(data).not.toHaveProperty('text');
});
