/** Tests the documentation that the proxy serves as Markdown, and its list at /llms.txt. */
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { findFiles, readText } from '../architecture/repository-files.ts';
import { closeAfterTest } from '../close-after-test.ts';
import { send, startProxy } from '../harness.ts';

const NAMES = findFiles('docs/*.md');

async function start(settings: Record<string, string> = {}) {
  const { url } = closeAfterTest(await startProxy({ settings }));
  return (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    send(url + path, { headers, method });
}

/** The pages that a list links to: title, address and sentence. */
function listLinks(text: string) {
  return [...text.matchAll(/^- \[(.+)\]\((\S+)\): (.+)$/gm)].map(([, title, address, sentence]) => ({
    title,
    address: address as string,
    sentence: sentence as string,
  }));
}

test('the list has each page once, with its title and a sentence, and each address answers', async () => {
  const get = await start();
  const { headers, body } = await get('/llms.txt');
  expect(headers['content-type']).toBe('text/plain; charset=utf-8');
  const text = body.toString();
  expect(text).toMatch(/^# erp-proxy \d+\.\d+\.\d+\n\n> .+\n/);
  expect(text).toContain('- [Policies](docs/policies.md): A policy says what a client key may do.\n');
  const links = listLinks(text);
  expect(links.map(({ address }) => address).sort()).toEqual([...NAMES, 'openapi.json'].sort());
  for (const { address, sentence } of links) {
    expect(sentence).toMatch(/\.$/);
    expect(sentence).not.toContain('](');
    expect([address, (await get(`/${address}`)).status]).toEqual([address, 200]);
  }
});

test('the list has whole addresses if the proxy knows its own', async () => {
  const get = await start({ 'http.publicUrl': 'https://erp.example.com/proxy/' });
  const links = listLinks((await get('/llms.txt')).body.toString());
  for (const { address } of links) expect(address).toMatch(/^https:\/\/erp\.example\.com\/proxy\/\w/);
});

test('a page is its file, for programs and for caches', async () => {
  const get = await start();
  const { status, headers, body } = await get('/docs/approvals.md');
  expect(status).toBe(200);
  expect(headers).toMatchObject({
    'content-type': 'text/markdown; charset=utf-8',
    'cache-control': 'no-cache',
    'x-content-type-options': 'nosniff',
    vary: 'accept-encoding',
  });
  expect(body.toString()).toContain(readText('docs/approvals.md').split('\n\n')[1]);
  const small = await get('/docs/approvals.md', { 'accept-encoding': 'gzip' });
  expect(gunzipSync(small.body)).toEqual(body);
  const known = await get('/docs/approvals.md', { 'if-none-match': headers.etag as string });
  expect([known.status, known.body.length]).toEqual([304, 0]);
  const head = await get('/docs/approvals.md', {}, 'HEAD');
  expect([head.status, head.body.length]).toEqual([200, 0]);
});

test('every link of a page leads to a page, to an anchor or to another site', async () => {
  const get = await start();
  const wrong: string[] = [];
  for (const name of NAMES) {
    const text = (await get(`/${name}`)).body.toString();
    const prose = text.replaceAll(/^```[\s\S]*?^```|(?<!\[)`[^`\n]+`(?!\])/gm, '');
    for (const [, target = ''] of prose.matchAll(/\]\(([^)\s]+)\)/g)) {
      const [path = ''] = target.split('#');
      if (path !== '' && !/^https?:/.test(path) && !NAMES.includes(`docs/${path}`)) wrong.push(target);
    }
  }
  expect(wrong).toEqual([]);
});

test('a link to a file that is not served is its text, and code stays as it is', async () => {
  const get = await start();
  const source = readText('docs/calling.md');
  const served = (await get('/docs/calling.md')).body.toString();
  expect(source).toContain('[examples](../examples/README.md) has complete programs');
  expect(served).toContain('examples has complete programs');
  const code = (text: string) => text.match(/^```[\s\S]*?^```/gm);
  expect(code(served)).toEqual(code(source));
});

test.each([
  '/docs/nothing.md',
  '/docs/README.md',
  '/docs/..%2fREADME.md',
  '/docs/%2e%2e%2fpackage.json',
  '/docs/../README.md',
  '/docs/decisions%2f0001-sources-run-as-they-are.md',
  '/docs/openapi.json',
  '/docs/calling.md/',
  '/docs/calling',
])('%s is no page', async (path) => {
  const get = await start();
  const { status, body } = await get(path);
  expect(status).toBe(404);
  expect(JSON.parse(body.toString()).error.data.type).toBe('route_not_found');
});

test('a page cannot be changed', async () => {
  const get = await start();
  for (const method of ['POST', 'PUT', 'DELETE']) {
    expect((await get('/docs/calling.md', {}, method)).status).toBeGreaterThanOrEqual(404);
  }
  expect((await get('/llms.txt', {}, 'POST')).status).toBe(405);
});
