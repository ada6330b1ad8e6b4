/** Attachments and binary fields over both protocols: what they contain, large ones, and invalid ones. */
import { createHash } from 'node:crypto';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { startSandbox } from '../src/index.ts';
import { executeKw, speak } from './speak.ts';

const sandbox = await startSandbox({ version: 19 });
beforeEach(() => sandbox.reset());
afterAll(() => sandbox.close());

const call = (model: string, method: string, args: unknown[], named: object = {}) =>
  executeKw(sandbox, model, method, args, { ...named }) as Promise<never>;
const read = (model: string, id: number, fields: string[], context = {}) =>
  call(model, 'read', [[id], fields], { context }) as Promise<[Record<string, string>]>;
const sha1 = (bytes: Buffer) => createHash('sha1').update(bytes).digest('hex');
const readFile = async (id: number) => (await call('ir.attachment', 'read', [[id], ['datas']]))[0]['datas'];

describe('an attachment', () => {
  test('has the type, the size and the checksum of its content', async () => {
    const content = Buffer.from('Grüße, 株式会社\n');
    const values = {
      name: 'note.txt',
      datas: content.toString('base64'),
      res_model: 'res.partner',
      res_id: 9,
    };
    const id = await call('ir.attachment', 'create', [values]);
    const fields = ['name', 'mimetype', 'file_size', 'checksum', 'res_model', 'res_id', 'datas'];
    expect(await call('ir.attachment', 'read', [[id], fields])).toEqual([
      { id, ...values, mimetype: 'text/plain', file_size: content.length, checksum: sha1(content) },
    ]);
    expect(
      await call('ir.attachment', 'search', [
        [
          ['res_model', '=', 'res.partner'],
          ['res_id', '=', 9],
        ],
      ]),
    ).toEqual([id]);
    await call('ir.attachment', 'write', [[id], { datas: Buffer.from('ab').toString('base64') }]);
    expect(await call('ir.attachment', 'read', [[id], ['file_size', 'datas']])).toEqual([
      { id, file_size: 2, datas: 'YWI=' },
    ]);
  });

  test('without content has the empty text in datas, and no checksum', async () => {
    for (const values of [{}, { datas: false }, { datas: '' }, { raw: '' }]) {
      const id = await call('ir.attachment', 'create', [{ name: 'x', ...values }]);
      expect(await call('ir.attachment', 'read', [[id], ['datas', 'raw', 'file_size', 'checksum']])).toEqual([
        { id, datas: '', raw: false, file_size: 0, checksum: false },
      ]);
    }
  });

  test('has its content as it is in raw, which takes a text', async () => {
    const id = await call('ir.attachment', 'create', [{ name: 'note.txt', raw: 'Grüße' }]);
    expect(await call('ir.attachment', 'read', [[id], ['raw', 'datas', 'file_size']])).toEqual([
      { id, raw: 'Grüße', datas: 'R3LDvMOfZQ==', file_size: 7 },
    ]);
    const context = { bin_size: true };
    expect(await call('ir.attachment', 'read', [[id], ['raw']], { context })).toEqual([
      { id, raw: '7.00 bytes' },
    ]);
    expect(await call('ir.attachment', 'write', [[id], { raw: 'x' }])).toBe('builtins.TypeError');
  });

  test.each([16, 18] as const)('of %i can be written as raw, and has no search by it', async (version) => {
    const other = await startSandbox({ version });
    try {
      const run = (method: string, args: unknown[]) =>
        executeKw(other, 'ir.attachment', method, args) as Promise<never>;
      const id = await run('create', [{ name: 'x.bin', datas: '/wD+gA==' }]);
      const request = {
        service: 'object',
        method: 'execute_kw',
        args: [other.db, 2, other.users.admin.apiKey, 'ir.attachment', 'read', [[id], ['raw']]],
      };
      const body = { jsonrpc: '2.0', id: 1, params: request };
      const { status, text } = await speak(other, '/jsonrpc', { body });
      // The bytes are no UTF-8.
      expect(status).toBe(version === 16 ? 200 : 500);
      if (version === 16) expect(JSON.parse(text).result).toEqual([{ id, raw: 'ÿ\u0000þ\u0080' }]);
      expect(await run('write', [[id], { raw: 'text' }])).toBe(true);
      expect(await run('read', [[id], ['raw', 'datas']])).toEqual([{ id, raw: 'text', datas: 'dGV4dA==' }]);
      expect(await run('search_count', [[['raw', '=', 'other']]])).toBe(1);
    } finally {
      await other.close();
    }
  });

  test('shows its size instead of its content with bin_size', async () => {
    const sizes = [
      [10, '10.00 bytes'],
      [15_206, '14.85 Kb'],
      [200 * 1024 * 1024, '200.00 Mb'],
    ] as const;
    for (const [size, shown] of sizes) {
      const id = sandbox.addFile({ name: 'x.bin', content: size });
      const context = { bin_size: true };
      expect(await call('ir.attachment', 'read', [[id], ['datas', 'file_size']], { context })).toEqual([
        { id, datas: shown, file_size: size },
      ]);
    }
    const [partner] = await read('res.partner', 3, ['image_1920'], { bin_size: true });
    expect(partner['image_1920']).toBe('14.72 Kb');
  });

  test.each([0, 1, 2, 3, 65_534, 65_535, 65_536, 200_000])(
    'of %i bytes is the same over both protocols',
    async (size) => {
      const id = sandbox.addFile({ name: 'data.bin', content: size });
      const [{ checksum }] = await read('ir.attachment', id, ['checksum']);
      const datas = await readFile(id);
      expect(Buffer.from(datas, 'base64')).toHaveLength(size);
      expect(sha1(Buffer.from(datas, 'base64'))).toBe(checksum);
      const { body, headers, text } = await speak(sandbox, '/json/2/ir.attachment/read', {
        body: { ids: [id], fields: ['datas', 'name'] },
      });
      expect(body).toEqual([{ id, datas, name: 'data.bin' }]);
      expect(Number(headers.get('content-length'))).toBe(text.length);
    },
  );

  test('is hidden from a user who may not read its model', async () => {
    const hidden = sandbox.addFile({ name: 'order.pdf', content: 5, resModel: 'sale.order', resId: 1 });
    const shown = sandbox.addFile({ name: 'contact.pdf', content: 5, resModel: 'res.partner', resId: 9 });
    const { body } = await speak(sandbox, '/json/2/ir.attachment/search', {
      body: { domain: [] },
      headers: { authorization: `bearer ${sandbox.users.demo.apiKey}` },
    });
    expect(body).toEqual([shown]);
    expect(await call('ir.attachment', 'search', [[]])).toEqual([shown, hidden]);
  });
});

describe('an upload', () => {
  test('of any size and any place of its chunks arrives unchanged', async () => {
    for (const size of [0, 1, 49_150, 49_152, 49_153, 1_000_001]) {
      const content = Buffer.alloc(size, 'Ab\u00ff\\"{}');
      const datas = content.toString('base64');
      const id = await call('ir.attachment', 'create', [
        { name: 'a "quoted" \\ name.pdf', datas, description: datas },
      ]);
      expect(await call('ir.attachment', 'read', [[id], ['name', 'datas', 'description']])).toEqual([
        { id, name: 'a "quoted" \\ name.pdf', datas, description: datas },
      ]);
    }
  });

  test('of long text that only resembles base64 arrives unchanged', async () => {
    const long = 'abcd'.repeat(30_000);
    const texts = [
      `${long}a`,
      `${long}ab=`,
      `${long}abc=abcd`,
      `${long}ab==`,
      `${long} x`,
      `${long}"\\u0041`,
      `é${long}`,
      `${long}ä`,
    ];
    for (const text of texts) {
      const id = await call('res.partner', 'create', [{ name: text }]);
      expect((await call('res.partner', 'read', [[id], ['name']]))[0]['name']).toBe(text);
    }
  });

  test('that is not base64 fails like in Python', async () => {
    for (const datas of ['abc', 'a', 'abcde', `${'abcd'.repeat(30_000)}a`])
      expect(await call('ir.attachment', 'create', [{ name: 'x', datas }])).toBe('binascii.Error');
    expect(await call('ir.attachment', 'create', [{ name: 'x', datas: 'ä' }])).toBe('builtins.ValueError');
  });
});

test('a binary field can contain text that is not base64', async () => {
  sandbox.putRaw('res.partner', 9, { image_1920: '<html>no base64</html>' });
  expect(await call('res.partner', 'read', [[9], ['image_1920']])).toEqual([
    { id: 9, image_1920: '<html>no base64</html>' },
  ]);
  const id = sandbox.addFile({ name: 'x.bin', content: 5 });
  sandbox.putRaw('ir.attachment', id, { datas: 'not base64!' });
  expect(await readFile(id)).toBe('not base64!');
});
