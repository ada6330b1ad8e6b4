/** Files: `POST /api/erp/download` and `POST /api/erp/upload`, against an upstream that answers as Odoo does. */
import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type HttpAnswer, type Proxy as RunningProxy, send, startProxy } from '../harness.ts';
import { readInFlight } from '../read-in-flight.ts';
import {
  answerLikeOdoo,
  printResult,
  type ScriptedUpstream,
  startUpstream,
  type UpstreamRequest,
} from '../scripted-upstream.ts';
import { openConnection, printPost } from '../security/connection.ts';
import { passTurns } from '../time.ts';

let answer: (socket: Socket, request: UpstreamRequest) => void | Promise<void>;
let upstream: ScriptedUpstream;
let proxy: RunningProxy;
let instance: Record<string, unknown>;

beforeAll(async () => {
  upstream = await startUpstream((socket, request) =>
    request.body.includes('"fields_get"') ? answerFields(socket) : answer(socket, request),
  );
  proxy = await startProxy({
    allow: [upstream.url],
    settings: { 'http.bodyBytesMax': String(12 * 2 ** 20) },
  });
  instance = { url: upstream.url, db: 'prod', user_id: 2, api_key: 'upstream-key-0123456789' };
});
afterAll(async () => {
  await proxy.close();
  await upstream.close();
});
beforeEach(() => {
  upstream.requests.length = 0;
  types = TYPES;
  atFields = null;
  // The proxy keeps types by user, so each test has another user.
  instance['user_id'] = 1 + ((instance['user_id'] as number) % 1_000_000);
});

/** The types of the fields of every model. */
const TYPES: Record<string, string> = {
  ...{ name: 'char', datas: 'binary', raw: 'binary', image_1920: 'binary', size: 'integer' },
  ...{ mimetype: 'char', type: 'selection', url: 'char', file_size: 'integer' },
};
let types: Record<string, string> | null;

/** Runs in place of the next answer with types. The connection then breaks. */
let atFields: (() => Promise<void>) | null;

async function answerFields(socket: Socket): Promise<void> {
  if (atFields !== null) {
    const happens = atFields;
    atFields = null;
    await happens();
    socket.destroy();
    return;
  }
  const described = Object.entries(types ?? {}).map(([name, type]) => [name, { type }]);
  const result = types === null ? '12' : JSON.stringify(Object.fromEntries(described));
  answerLikeOdoo(socket, printResult(result));
}

/** The calls that Odoo got, without the questions for types. */
const listCalls = () => upstream.requests.filter(({ body }) => !body.includes('"fields_get"'));

const ATTACHMENT = { model_id: 'ir.attachment', record: 7, field: 'datas' };

function download(
  body: Record<string, unknown> = {},
  headers: Record<string, string> = {},
): Promise<HttpAnswer> {
  return send(`${proxy.url}/api/erp/download`, {
    method: 'POST',
    headers: { 'x-proxy-api': proxy.key, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ id: 'd1', ...ATTACHMENT, erp_instance: instance, ...body }),
  });
}

function upload(
  file: Uint8Array,
  call: Record<string, unknown> | string,
  headers: Record<string, string> = {},
): Promise<HttpAnswer> {
  const text = typeof call === 'string' ? call : encodeURIComponent(JSON.stringify({ id: 'u1', ...call }));
  return send(`${proxy.url}/api/erp/upload`, {
    method: 'POST',
    headers: { 'x-proxy-api': proxy.key, 'content-type': 'image/png', 'x-erp-call': text, ...headers },
    body: file,
  });
}

function readJson({ body }: HttpAnswer) {
  return JSON.parse(body.toString());
}

/** The last call that Odoo got: model, method, positional and named arguments. */
function sentCall() {
  const [, , , model, method, params, keyword] = JSON.parse(upstream.requests.at(-1)!.body.toString()).params
    .args;
  return { model, method, params, keyword };
}

/** Answers with one record. */
function answerRecord(fields: Record<string, unknown>): void {
  answer = (socket) => answerLikeOdoo(socket, printResult(JSON.stringify([{ id: 7, ...fields }])));
}

async function makeKey(policy: object): Promise<string> {
  const { key } = await proxy.app.keys.create({ name: 'limited', policy: policy as never });
  return key;
}

test('a download has the bytes, the name and the media type of the file', async () => {
  const file = randomBytes(300_001);
  answerRecord({ name: 'Vertrag ä.pdf', mimetype: 'application/pdf', datas: file.toString('base64') });
  const got = await download();
  expect(got.status).toBe(200);
  expect(got.body.equals(file)).toBe(true);
  expect(got.headers).toMatchObject({
    'content-type': 'application/pdf',
    'content-disposition': `attachment; filename="Vertrag _.pdf"; filename*=UTF-8''Vertrag%20%C3%A4.pdf`,
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; sandbox",
    'cache-control': 'no-store, no-transform',
  });
  expect(sentCall()).toMatchObject({
    model: 'ir.attachment',
    method: 'read',
    params: [[7]],
    keyword: {
      fields: ['name', 'mimetype', 'type', 'file_size', 'datas'],
      context: { bin_size: false, bin_size_datas: false, include_binary_content: true },
    },
  });
});

test.each([0, 1, 2, 3, 48, 12_000, 16_384, 100_000])('a file of %i bytes arrives whole', async (bytes) => {
  const file = randomBytes(bytes);
  answerRecord({ name: false, mimetype: false, datas: file.toString('base64') });
  const got = await download();
  expect(got.body.equals(file)).toBe(true);
  expect(got.headers['content-type']).toBe('application/octet-stream');
});

test('the first bytes leave while Odoo still sends', async () => {
  const file = randomBytes(3 * 40_000);
  const text = Buffer.from(file.toString('base64'));
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  answer = async (socket) => {
    const head = printResult('[{"id": 7, "name": "a", "mimetype": "a/b", "datas": "').slice(0, -1);
    const length = head.length + text.length + 4;
    socket.write(
      `HTTP/1.0 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n${head}`,
    );
    socket.write(text.subarray(0, 40_001));
    await released;
    socket.end(Buffer.concat([text.subarray(40_001), Buffer.from('"}]}')]));
  };
  const response = await fetch(`${proxy.url}/api/erp/download`, {
    method: 'POST',
    headers: { 'x-proxy-api': proxy.key, 'content-type': 'application/json' },
    body: JSON.stringify({ ...ATTACHMENT, erp_instance: instance }),
  });
  const reader = response.body!.getReader();
  const first = await reader.read();
  expect(first.value!.length).toBeGreaterThan(0);
  release();
  const pieces = [first.value!];
  for (let next = await reader.read(); !next.done; next = await reader.read()) pieces.push(next.value);
  expect(Buffer.concat(pieces).equals(file)).toBe(true);
});

test('a file that was stored in lines is decoded', async () => {
  const file = randomBytes(200_000);
  answerRecord({ name: 'a', mimetype: 'a/b', datas: file.toString('base64').replaceAll(/.{76}/g, '$&\n') });
  expect((await download()).body.equals(file)).toBe(true);
});

test('a file is not compressed again', async () => {
  answerRecord({ name: 'a', mimetype: 'a/b', datas: Buffer.alloc(100_000).toString('base64') });
  const got = await download({}, { 'accept-encoding': 'gzip, br, zstd' });
  expect(got.headers['content-encoding']).toBeUndefined();
  expect(got.body.equals(Buffer.alloc(100_000))).toBe(true);
});

test('an empty field is an empty file', async () => {
  answerRecord({ name: 'a', mimetype: 'a/b', datas: false });
  const got = await download({}, { prefer: 'values=normalized' });
  expect(got).toMatchObject({ status: 200, body: Buffer.alloc(0) });
  expect(got.headers['content-length']).toBe('0');
});

test('other models are asked for the field alone', async () => {
  const file = randomBytes(10);
  answerRecord({ image_1920: file.toString('base64') });
  const got = await download({
    model_id: 'res.partner',
    field: 'image_1920',
    context: { bin_size: true, lang: 'fr_FR' },
  });
  expect(got.body.equals(file)).toBe(true);
  expect(got.headers['content-disposition']).toBe('attachment; filename="res_partner-7-image_1920"');
  expect(sentCall().keyword).toEqual({
    fields: ['image_1920'],
    context: { bin_size: false, lang: 'fr_FR', bin_size_image_1920: false, include_binary_content: true },
  });
});

test('an error of Odoo is passed on with the id of the request', async () => {
  answer = (socket) =>
    answerLikeOdoo(
      socket,
      JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        error: {
          code: 200,
          message: 'Odoo Server Error',
          data: {
            name: 'odoo.exceptions.MissingError',
            debug: '',
            message: 'Record does not exist or has been deleted.',
            arguments: ['Record does not exist or has been deleted.'],
            context: {},
          },
        },
      }),
    );
  const got = await download();
  expect(got.status).toBe(200);
  expect(readJson(got)).toMatchObject({ id: 'd1', error: { data: { type: 'record_missing' } } });
  expect(got.headers['content-type']).toBe('application/json');
});

test('no record is the same error in all versions', async () => {
  answer = (socket) => answerLikeOdoo(socket, printResult('[]'));
  const got = await download();
  expect(got.status).toBe(200);
  expect(readJson(got)).toMatchObject({ id: 'd1', error: { data: { type: 'record_missing' } } });
});

test.each([
  ['a number', '[{"id": 7, "name": "a", "mimetype": "b/c", "datas": 12}]', 'field'],
  [
    'a text that is no base64',
    '[{"id": 7, "name": "a", "mimetype": "b/c", "datas": "Deco Addict"}]',
    'field',
  ],
  ['an incomplete group', '[{"id": 7, "name": "a", "mimetype": "b/c", "datas": "AAAAA"}]', 'field'],
])('%s is a clear error', async (_, result, path) => {
  answer = (socket) => answerLikeOdoo(socket, printResult(result));
  const got = await download();
  expect(got.status).toBe(400);
  expect(readJson(got)).toMatchObject({ id: 'd1', error: { data: { type: 'invalid_params', path } } });
});

test.each([
  ['a character that is no digit in the middle', `${'A'.repeat(200_000)} ${'A'.repeat(200_003)}"}]}`],
  ['an incomplete group at the end', `${'A'.repeat(200_001)}"}]}`],
  ['no end of the value', 'A'.repeat(200_000)],
])('a file with %s breaks the connection off', async (_, rest) => {
  answer = async (socket) => {
    socket.write(
      'HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n{"jsonrpc": "2.0", "id": 1, "result": [{"id": 7, "name": "a", "mimetype": "b/c", "datas": "',
    );
    for (let at = 0; at < rest.length; at += 40_000) {
      socket.write(rest.slice(at, at + 40_000));
      // The pause lets the proxy read each piece separately.
      await passTurns(10);
    }
    socket.end();
  };
  await expect(download()).rejects.toThrow(/aborted|reset|hang up/i);
});

test('an answer whose head does not end is refused', async () => {
  answer = (socket) => answerLikeOdoo(socket, printResult(`[{"id": 7, "name": "${'a'.repeat(500_000)}"}]`));
  const got = await download();
  expect(readJson(got)).toMatchObject({ id: 'd1', error: { data: { type: 'upstream_bad_response' } } });
});

test.each([
  [{ record: 0 }, 'record'],
  [{ record: -3 }, 'record'],
  [{ record: 1.5 }, 'record'],
  [{ record: '7' }, 'record'],
  [{ record: [7] }, 'record'],
  [{ record: null }, 'record'],
  [{ record: 2 ** 31 }, 'record'],
  [{ field: 'datas", "x' }, 'field'],
  [{ field: 'a.b' }, 'field'],
  [{ field: '' }, 'field'],
  [{ field: ['datas'] }, 'field'],
  [{ field: 'a'.repeat(64) }, 'field'],
  [{ model_id: 7 }, 'model_id'],
  [{ fields: ['datas'] }, 'fields'],
  [{ context: 3 }, 'context'],
])('refuses %j and names the member', async (changes, path) => {
  const got = await download(changes);
  expect(got.status).toBe(400);
  expect(readJson(got)).toMatchObject({ id: 'd1', error: { data: { type: 'invalid_request', path } } });
  expect(upstream.requests).toEqual([]);
});

test('a policy must allow files, and the reading of the model and the field', async () => {
  const origins = [upstream.url];
  answerRecord({ name: 'a', mimetype: 'a/b', datas: 'AAAA' });
  const ask = async (policy: object, body = {}) =>
    readJson(await download(body, { 'x-proxy-api': await makeKey({ origins, ...policy }) })).error.data;
  const models = { 'ir.attachment': ['read'] };
  expect(await ask({ models })).toMatchObject({ type: 'policy_denied', rule: 'data' });
  expect(await ask({ models, data: ['export', 'changes'] })).toMatchObject({ rule: 'data' });
  expect(await ask({ models: { 'res.partner': ['read'] }, data: ['files'] })).toMatchObject({
    rule: 'models',
  });
  const fields = { 'ir.attachment': { deny: ['datas'] } };
  expect(await ask({ models, data: ['files'], fields })).toMatchObject({ type: 'policy_denied' });
  expect(upstream.requests).toEqual([]);
});

test('name and media type are not asked for where the policy denies them', async () => {
  answer = (socket, { body }) => {
    const types = { datas: { type: 'binary' } };
    const result = body.includes('"fields_get"') ? types : [{ id: 7, datas: 'AAAA' }];
    answerLikeOdoo(socket, printResult(JSON.stringify(result)));
  };
  const key = await makeKey({
    origins: [upstream.url],
    models: { 'ir.attachment': ['read'] },
    data: ['files'],
    read_only: true,
    fields: { 'ir.attachment': { allow: ['datas'] } },
  });
  const got = await download({}, { 'x-proxy-api': key });
  expect(got.body).toEqual(Buffer.alloc(3));
  expect(sentCall().keyword.fields).toEqual(['datas']);
});

test('a download is logged as one call that it made', async () => {
  answerRecord({ name: 'a', mimetype: 'a/b', datas: 'AAAA' });
  const requestId = 'logged';
  await download({}, { 'x-request-id': requestId });
  const lines = () => proxy.log.filter((line) => line['requestId'] === requestId);
  await expect.poll(lines).toMatchObject([{ via: 'download', method: 'read', outcome: 'ok' }]);
  expect(JSON.stringify(lines())).not.toContain('AAAA');
});

test('a large file is uploaded as it is, with the other fields of its record', async () => {
  const file = randomBytes(10 * 2 ** 20 + 1);
  answer = (socket) => answerLikeOdoo(socket, printResult('41'));
  const values = { name: 'Foto ä "x".png', res_model: 'res.partner', res_id: 12.0, ratio: 1.5 };
  const got = await upload(file, {
    model_id: 'ir.attachment',
    field: 'datas',
    values,
    erp_instance: instance,
  });
  expect(readJson(got)).toEqual({ jsonrpc: '2.0', id: 'u1', result: 41 });
  const { model, method, params, keyword } = sentCall();
  expect({ model, method, keyword }).toEqual({ model: 'ir.attachment', method: 'create', keyword: {} });
  const [{ datas, ...others }] = params;
  expect(others).toEqual(values);
  expect(Buffer.from(datas, 'base64').equals(file)).toBe(true);
});

test('an upload into a record answers its id', async () => {
  answer = (socket) => answerLikeOdoo(socket, printResult('true'));
  const call = { model_id: 'res.partner', record: 12, field: 'image_1920', context: { lang: 'fr_FR' } };
  const got = await upload(Buffer.from('abc'), { ...call, erp_instance: instance });
  expect(readJson(got)).toEqual({ jsonrpc: '2.0', id: 'u1', result: 12 });
  expect(sentCall()).toEqual({
    model: 'res.partner',
    method: 'write',
    params: [[12], { image_1920: 'YWJj' }],
    keyword: { context: { lang: 'fr_FR' } },
  });
});

test('an upload with an idempotency key runs once', async () => {
  let id = 50;
  answer = (socket) => answerLikeOdoo(socket, printResult(String(id++)));
  const call = { model_id: 'ir.attachment', field: 'datas', erp_instance: instance };
  const headers = { 'idempotency-key': 'upload-1' };
  const first = await upload(Buffer.from('abc'), call, headers);
  const second = await upload(Buffer.from('abc'), call, headers);
  const other = await upload(Buffer.from('abd'), call, headers);
  expect(readJson(first).result).toBe(50);
  expect(readJson(second).result).toBe(50);
  expect(second.headers['idempotency-replayed']).toBe('true');
  expect(readJson(other)).toMatchObject({ id: 'u1', error: { data: { type: 'idempotency_conflict' } } });
  expect(listCalls()).toHaveLength(1);
});

test.each([
  ['name', /`name` is of the type char/],
  ['size', /`size` is of the type integer/],
])('a field that is not binary is neither written nor read: %s', async (field, message) => {
  answer = (socket) => answerLikeOdoo(socket, printResult('[{"id": 7, "name": "abcd"}]'));
  const call = { model_id: 'res.partner', record: 7, field, erp_instance: instance };
  for (const got of [await upload(Buffer.from('abc'), call), await download(call)]) {
    expect(got.status).toBe(400);
    expect(readJson(got).error).toMatchObject({
      message: expect.stringMatching(message),
      data: { type: 'invalid_params', path: 'field' },
    });
  }
  expect(listCalls()).toEqual([]);
  const refused = () => proxy.log.filter(({ method, outcome }) => method === 'write' && outcome !== 'ok');
  await expect.poll(() => refused().length).toBeGreaterThan(0);
});

test('without the types of fields nothing is written', async () => {
  types = null;
  answer = (socket) => answerLikeOdoo(socket, printResult('true'));
  const got = await upload(Buffer.from('abc'), {
    model_id: 'res.partner',
    record: 7,
    field: 'image_1920',
    erp_instance: instance,
  });
  expect(readJson(got).error.message).toMatch(/could not be read\. Nothing was written/);
  expect(listCalls()).toEqual([]);
});

test.each([
  ['datas', 'datas'],
  ['raw', 'datas'],
  ['datas', 'raw'],
  ['raw', 'raw'],
])('the content of an attachment is asked for as %s, and is in %s', async (named, held) => {
  // Where Odoo has `datas`, RPC returns `raw` as text; from 19.3 on, there is no `datas`.
  types = held === 'datas' ? TYPES : { ...TYPES, datas: 'char' };
  answerRecord({ name: 'a', mimetype: 'a/b', type: 'binary', file_size: 3, [held]: 'YWJj' });
  expect((await download({ field: named })).body.toString()).toBe('abc');
  expect(sentCall().keyword).toMatchObject({
    fields: ['name', 'mimetype', 'type', 'file_size', held],
    context: { include_binary_content: true },
  });
  answer = (socket) => answerLikeOdoo(socket, printResult('41'));
  const got = await upload(Buffer.from('abc'), {
    model_id: 'ir.attachment',
    field: named,
    erp_instance: instance,
  });
  expect(readJson(got).result).toBe(41);
  expect(sentCall().params).toEqual([{ [held]: 'YWJj' }]);
});

test('a file that comes as an object with its name and size is the same', async () => {
  answerRecord({ image_1920: { filename: 'a.png', content: 'YWJj', size: 3 } });
  const got = await download({ model_id: 'res.partner', field: 'image_1920' });
  expect(got.body.toString()).toBe('abc');
  expect(got.headers['content-disposition']).toBe('attachment; filename="a.png"');
});

test.each([
  ['image/png', 'png', '\x89PNG\r\n\x1a\n0000'],
  ['image/jpeg', 'jpg', '\xff\xd8\xff\xe000000000'],
  ['image/webp', 'webp', 'RIFF0000WEBPVP8 '],
  ['application/pdf', 'pdf', '%PDF-1.7 0000'],
])('a file of the type %s is known by its first bytes', async (mediaType, extension, start) => {
  const file = Buffer.concat([Buffer.from(start, 'latin1'), randomBytes(1000)]);
  answer = async (socket) => {
    const text = printResult(JSON.stringify([{ id: 7, image_1920: file.toString('base64') }]));
    socket.write(
      `HTTP/1.0 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${text.length}\r\n\r\n`,
    );
    const at = text.indexOf('image_1920') + 20;
    socket.write(text.slice(0, at));
    await passTurns(10);
    socket.end(text.slice(at));
  };
  const got = await download({ model_id: 'res.partner', field: 'image_1920' });
  expect(got.body.equals(file)).toBe(true);
  expect(got.headers).toMatchObject({
    'content-type': mediaType,
    'content-disposition': `attachment; filename="res_partner-7-image_1920.${extension}"`,
  });
});

test.each([
  [{ type: 'url', file_size: 0, datas: false }, 400, 'invalid_params', /is a link .* `url`/],
  [{ type: 'binary', file_size: 1234, datas: false }, 502, 'upstream_bad_response', /lost this file/],
  [{ type: 'binary', file_size: 1234, datas: '' }, 502, 'upstream_bad_response', /lost this file/],
])('%j has no file, and says why', async (fields, status, type, message) => {
  answerRecord({ name: 'a', mimetype: 'a/b', ...fields });
  const got = await download();
  expect(got.status).toBe(status);
  expect(readJson(got)).toMatchObject({
    id: 'd1',
    error: { message: expect.stringMatching(message), data: { type } },
  });
});

test.each([
  ['bytes=0-9', 0, 9],
  ['bytes=100000-249999', 100_000, 249_999],
  ['bytes=-7', 300_000 - 6, 300_000],
  ['bytes=250000-', 250_000, 300_000],
])('a download with the header `range: %s` has these bytes', async (range, start, end) => {
  const file = randomBytes(300_001);
  answerRecord({
    name: 'a.bin',
    mimetype: 'a/b',
    type: 'binary',
    file_size: file.length,
    datas: file.toString('base64'),
  });
  const got = await download({}, { range });
  expect(got.status).toBe(206);
  expect(got.headers).toMatchObject({
    'content-range': `bytes ${start}-${end}/300001`,
    'accept-ranges': 'bytes',
    'content-disposition': 'attachment; filename="a.bin"',
  });
  expect(got.body.equals(file.subarray(start, end + 1))).toBe(true);
});

test('a range beyond the end is refused, and ignored where the size is not known', async () => {
  const file = randomBytes(300_001);
  const datas = file.toString('base64');
  answerRecord({ name: 'a', mimetype: 'a/b', type: 'binary', file_size: file.length, datas });
  const beyond = await download({}, { range: 'bytes=300001-' });
  expect(beyond).toMatchObject({ status: 416, body: Buffer.alloc(0) });
  expect(beyond.headers['content-range']).toBe('bytes */300001');
  answerRecord({ image_1920: datas });
  const whole = await download({ model_id: 'res.partner', field: 'image_1920' }, { range: 'bytes=0-9' });
  expect(whole.status).toBe(200);
  expect(whole.body.equals(file)).toBe(true);
  expect(whole.headers).not.toHaveProperty('accept-ranges');
});

test('the size of an attachment says nothing about its thumbnail', async () => {
  types = { ...TYPES, thumbnail: 'binary' };
  const fields = { name: 'a', mimetype: 'a/b' };
  answerRecord({ ...fields, thumbnail: false });
  const empty = await download({ field: 'thumbnail' });
  expect([empty.status, empty.body.length, sentCall().keyword.fields]).toEqual([
    200,
    0,
    ['name', 'mimetype', 'thumbnail'],
  ]);
  answerRecord({ ...fields, thumbnail: randomBytes(300_000).toString('base64') });
  const whole = await download({ field: 'thumbnail' }, { range: 'bytes=0-9' });
  expect([whole.status, whole.body.length]).toEqual([200, 300_000]);
});

test.each([
  [300_000, 'bytes=0-300000'],
  [300_100, 'bytes=-7'],
])(
  'a part of a file that has %i bytes in place of the stated 300001 is broken off',
  async (length, range) => {
    const datas = randomBytes(length).toString('base64');
    answerRecord({ name: 'a', mimetype: 'a/b', type: 'binary', file_size: 300_001, datas });
    await expect(download({}, { range })).rejects.toThrow();
  },
);

test('a stored field with an empty text in place of its file has lost it', async () => {
  answerRecord({ image_1920: '' });
  const got = await download({ model_id: 'res.partner', field: 'image_1920' });
  expect(readJson(got).error).toMatchObject({
    message: expect.stringMatching(/lost this file/),
    data: { type: 'upstream_bad_response' },
  });
});

test.each<[string, Record<string, unknown> | string, string, string | undefined]>([
  ['no JSON', '%7Bmodel', 'parse_error', undefined],
  ['a broken percent-encoding', '%E4', 'parse_error', 'x-erp-call'],
  // HTTP clients send the UTF-8 bytes of `é` in this way.
  ['letters that are not encoded', '{"model_id": "\u00c3\u00a9"}', 'parse_error', 'x-erp-call'],
  ['a percent sign that is not encoded', '{"model_id": "a", "field": "%41"}', 'parse_error', 'x-erp-call'],
  ['an array', '%5B%5D', 'invalid_request', undefined],
  [
    'the file twice',
    { model_id: 'a', field: 'datas', values: { datas: 'AAAA' } },
    'invalid_request',
    'values.datas',
  ],
  ['values that are no object', { model_id: 'a', field: 'datas', values: [1] }, 'invalid_request', 'values'],
  ['an unknown member', { model_id: 'a', field: 'datas', value: {} }, 'invalid_request', 'value'],
  ['no field', { model_id: 'a' }, 'invalid_request', 'field'],
  ['a bad record', { model_id: 'a', field: 'datas', record: -1 }, 'invalid_request', 'record'],
])('refuses a call with %s', async (_, call, type, path) => {
  const got = await upload(Buffer.from('abc'), call);
  expect(got.status).toBe(400);
  const { data } = readJson(got).error;
  expect({ type: data.type, path: data.path }).toEqual({ type, path });
  expect(upstream.requests).toEqual([]);
});

test.each([
  ['is false', false, { bin_size: false, bin_size_datas: false }],
  ['is an empty object of PHP', [], { bin_size: false, bin_size_datas: false }],
  [
    'has many members',
    { ...Object.fromEntries(Array.from({ length: 70 }, (_, index) => [`k${index}`, 1])), bin_size: true },
    { k69: 1, bin_size: false },
  ],
])('a download whose context %s asks for the file', async (_, context, sent) => {
  answer = (socket) => answerLikeOdoo(socket, printResult('[{"id":7,"datas":"YWJj"}]'));
  const got = await download({ context });
  expect(got.body.toString()).toBe('abc');
  expect(sentCall().keyword).toMatchObject({ context: sent });
});

test('an error about the context names it as the call does', async () => {
  const context = { tz: 'Mars/Base' };
  const call = { model_id: 'a', field: 'datas', context, erp_instance: instance };
  const id = 'keyword.context';
  for (const got of [await download({ context, id }), await upload(Buffer.from('abc'), { ...call, id })])
    expect(readJson(got)).toMatchObject({
      id,
      error: { message: expect.stringMatching(/^`context\.tz` /), data: { path: 'context.tz' } },
    });
  expect(upstream.requests).toEqual([]);
});

test('a field that values name twice is refused, and names cannot leave the object', async () => {
  const text = (values: string) =>
    encodeURIComponent(
      `{"model_id": "a", "field": "datas", "values": ${values}, "erp_instance": {"name": "x"}}`,
    );
  const twice = await upload(Buffer.from('abc'), text('{"name": 1, "name": 2}'));
  expect(readJson(twice).error.data.path).toBe('values');
  answer = (socket) => answerLikeOdoo(socket, printResult('1'));
  const call = { model_id: 'a', field: 'datas', values: { 'x":1},{"y': '"]}' }, erp_instance: instance };
  await upload(Buffer.from('abc'), call);
  expect(sentCall().params).toEqual([{ 'x":1},{"y': '"]}', datas: 'YWJj' }]);
});

test('an upload without its header, or that is too large, is refused', async () => {
  const none = await send(`${proxy.url}/api/erp/upload`, {
    method: 'POST',
    headers: { 'x-proxy-api': proxy.key },
    body: 'abc',
  });
  expect(readJson(none).error.data).toMatchObject({ type: 'invalid_request', path: 'x-erp-call' });
  const call = { model_id: 'a', field: 'datas', erp_instance: instance };
  const large = await upload(Buffer.alloc(12 * 2 ** 20 + 1), call);
  expect(large.status).toBe(413);
});

test('an upload starts over if its policy changes while the types of fields are asked for', async () => {
  const policy = { origins: [upstream.url], models: { 'ir.attachment': ['*'] }, data: ['files'] };
  const call = { model_id: 'ir.attachment', field: 'datas', values: { name: 'a' }, erp_instance: instance };
  const ask = async (changed: object) => {
    // The proxy keeps types by user, so another user is needed.
    instance['user_id'] = (instance['user_id'] as number) + 1;
    const { key, record } = await proxy.app.keys.create({ name: 'changed', policy: policy as never });
    atFields = async () => {
      const changing = proxy.app.keys.update(record.id, record.version, {
        policy: { ...policy, ...changed } as never,
      });
      expect(await changing).toBe('done');
    };
    return readJson(await upload(Buffer.from('abc'), call, { 'x-proxy-api': key }));
  };
  answer = (socket) => answerLikeOdoo(socket, printResult('41'));
  const deny = (name: string) => ({ fields: { 'ir.attachment': { deny: [name] } } });
  expect(await ask(deny('url'))).toEqual({ jsonrpc: '2.0', id: 'u1', result: 41 });
  upstream.requests.length = 0;
  expect(await ask(deny('name'))).toMatchObject({ error: { data: { type: 'policy_denied' } } });
  expect(listCalls()).toEqual([]);
});

test('a policy must allow files and the write', async () => {
  const origins = [upstream.url];
  const call = { model_id: 'ir.attachment', field: 'datas', erp_instance: instance };
  const ask = async (policy: object) => {
    const key = await makeKey({ origins, models: { 'ir.attachment': ['*'] }, ...policy });
    return readJson(await upload(Buffer.from('abc'), call, { 'x-proxy-api': key })).error.data;
  };
  expect(await ask({})).toMatchObject({ type: 'policy_denied', rule: 'data' });
  expect(await ask({ data: ['files'], read_only: true })).toMatchObject({ rule: 'read_only' });
  const fields = { 'ir.attachment': { deny: ['datas'] } };
  expect(await ask({ data: ['files'], fields })).toMatchObject({ type: 'policy_denied' });
  expect(upstream.requests).toEqual([]);
});

test.each<[route: string, body: () => object]>([
  ['download', () => ({ ...ATTACHMENT, erp_instance: instance })],
  ['export', () => ({ model_id: 'res.partner', fields: ['name'], erp_instance: instance })],
  ['changes', () => ({ model_id: 'res.partner', fields: ['name'], since: null, erp_instance: instance })],
])('does not blame Odoo if the caller of %s leaves', async (route, body) => {
  answer = () => {};
  await expect.poll(() => readInFlight(proxy.url)).toBe(0);
  const linesBefore = proxy.log.length;
  const text = JSON.stringify(body());
  const { socket } = openConnection(
    proxy.url,
    printPost(
      [`x-proxy-api: ${proxy.key}`, 'content-type: application/json', `content-length: ${text.length}`],
      text,
    )
      .toString()
      .replace('/execute', `/${route}`),
  );
  await expect.poll(() => listCalls().length).toBe(1);
  socket.destroy();
  await expect.poll(() => proxy.log.slice(linesBefore).some(({ msg }) => msg === 'call')).toBe(true);
  await expect.poll(() => readInFlight(proxy.url)).toBe(0);
  const lines = proxy.log.slice(linesBefore).filter(({ msg }) => msg === 'call' || msg === 'refused');
  for (const line of lines) expect(line).toMatchObject({ outcome: 'caller_left', httpStatus: 499 });
});
