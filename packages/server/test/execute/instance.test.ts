/** docs/execute.md#the-odoo-server: the forms of `erp_instance.url`, and which members of an instance reach Odoo. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Pair, startPair } from '../pair.ts';
import { expectError, printCall, printInstance } from './expectations.ts';

let pair: Pair;
beforeAll(async () => {
  pair = await startPair();
});
afterAll(() => pair.close());

const postTo = (url: string) => pair.proxy.post(printCall('', { erp_instance: printInstance(url) }));

describe('url', () => {
  test.each([
    ['', '/jsonrpc'],
    ['/', '/jsonrpc'],
    ['///', '/jsonrpc'],
    ['/odoo', '/odoo/jsonrpc'],
    ['/odoo/', '/odoo/jsonrpc'],
    ['/a/b%20c', '/a/b%20c/jsonrpc'],
    ['/a/../b', '/b/jsonrpc'],
    ['/é', '/%C3%A9/jsonrpc'],
  ])('with the path %j leads to %s', async (path, target) => {
    const answer = await postTo(pair.upstream.url + path);
    expect(answer.status).toBe(200);
    expect(pair.upstream.requests.at(-1)?.head.split('\r\n')[0]).toBe(`POST ${target} HTTP/1.1`);
  });

  test('may be in upper case', async () => {
    expect((await postTo(pair.upstream.url.replace('http', 'HTTP'))).status).toBe(200);
  });

  test.each([
    'erp.example.com',
    'erp.example.com:8069',
    '//erp.example.com',
    'ftp://erp.example.com',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'https:erp.example.com',
    'https:/erp.example.com',
    'https:///erp.example.com',
    'https://',
    'https://user@erp.example.com',
    'https://user:secret@erp.example.com',
    'https://@erp.example.com',
    'https://:@erp.example.com',
    'https://erp.example.com?',
    'https://erp.example.com/?db=x',
    'https://erp.example.com#',
    'https://erp.example.com/#a',
    ' https://erp.example.com',
    'https://erp.example.com ',
    'https://erp.exa mple.com',
    'https://erp.example.com\n',
    'ht\ttps://erp.example.com',
    'https:\\\\erp.example.com',
    'https://erp.example.com\\@evil.example',
    'https://erp.example.com:99999',
    'https://erp.example.com:-1',
    'https://[::1',
    'https://a..b%zz',
    `https://erp.example.com/${'a'.repeat(2048)}`,
  ])('is refused in the form %j', async (url) => {
    const answer = await postTo(url);
    expectError(answer, {
      status: 400,
      code: -32600,
      type: 'invalid_request',
      id: 1,
      path: 'erp_instance.url',
      says: /`erp_instance.url` (is|must|may)/,
    });
    expect(answer.body.toString()).not.toContain('secret');
  });

  test('may be any URL inside an allowed origin, and none outside of it', async () => {
    const { port } = new URL(pair.upstream.url);
    const answer = await postTo(`http://127.0.0.2:${port}`);
    expect(answer.status).toBe(403);
  });
});

test.each(['prod', 'a', '1', '_x', 'my-db.v2_1', 'd'.repeat(63)])(
  'sends the database %s in body and header',
  async (db) => {
    await pair.proxy.post(
      printCall('', { erp_instance: printInstance(pair.upstream.url, { db: JSON.stringify(db) }) }),
    );
    const sent = pair.upstream.requests.at(-1)!;
    expect(JSON.parse(sent.body.toString()).params.args[0]).toBe(db);
    expect(sent.head).toMatch(new RegExp(`^x-odoo-database: ${db}$`, 'im'));
  },
);

test.each(['a', '"quoted" \\ back', 'é 😀', '\u0000\n', 'k'.repeat(1024)])(
  'sends the key %j unchanged',
  async (key) => {
    await pair.proxy.post(
      printCall('', { erp_instance: printInstance(pair.upstream.url, { api_key: JSON.stringify(key) }) }),
    );
    expect(JSON.parse(pair.upstream.requests.at(-1)!.body.toString()).params.args[2]).toBe(key);
  },
);
