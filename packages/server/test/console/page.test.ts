/** The files of the console, as a browser gets them. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, brotliDecompressSync, gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import { send, startProxy } from '../harness.ts';
import { makeFolder } from '../process/program.ts';
import { listConsoleRoutes } from './list-routes.ts';

const INDEX = '<!doctype html><script type="module" src="/assets/index-Bx1.js"></script>';
const SCRIPT = 'document.body.textContent = "console";\n'.repeat(200);
const STYLE = 'body { margin: 0 }\n'.repeat(200);
const YEAR = 'public, max-age=31536000, immutable';

/** A page as Vite builds it. The style has forms that the build compressed. */
function buildPage(): string {
  const folder = join(makeFolder(), 'dist');
  mkdirSync(join(folder, 'assets/deeper'), { recursive: true });
  const files = {
    'index.html': INDEX,
    'secret.txt': 'beside the page',
    'assets/index-Bx1.js': SCRIPT,
    'assets/index-Cz2.css': STYLE,
    'assets/index-Cz2.css.br': brotliCompressSync('built'),
    'assets/logo-D3.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
    'assets/inter-E4.woff2': 'font',
    'assets/notes.md': 'no part of a page',
    'assets/deeper/index.js': 'not listed',
  };
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  symlinkSync(join(folder, 'secret.txt'), join(folder, 'assets/link.js'));
  return folder;
}

async function startConsole(settings: Record<string, string> = {}, consoleFolder = buildPage()) {
  const proxy = closeAfterTest(await startProxy({ consoleFolder, settings }));
  return {
    folder: consoleFolder,
    get: (path: string, headers: Record<string, string> = {}, method = 'GET') =>
      send(proxy.url + path, { headers, method }),
  };
}

test('every route of the console is the page', async () => {
  const { get } = await startConsole();
  const paths = listConsoleRoutes().map((route) => route.replaceAll(/\$\w+/g, 'x'));
  expect(paths.length).toBeGreaterThan(10);
  for (const path of paths) expect([path, (await get(path)).body.toString()]).toEqual([path, INDEX]);
});

test.each([
  '/',
  '/sign-in',
  '/start?step=2',
  '/playground',
  '/calls',
  '/calls/01J9/detail',
  '/keys',
  '/keys/4f7k2m9qXw1B',
  '/instances/prod',
  `/instances/${'long'.repeat(100)}`,
  '/subscriptions',
  '/subscriptions/orders',
  '/approvals',
  '/approvals/7',
])('%s is the page', async (path) => {
  const { get } = await startConsole();
  const { status, headers, body } = await get(path);
  expect(status).toBe(200);
  expect(body.toString()).toBe(INDEX);
  expect(headers).toMatchObject({
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-cache',
    'content-security-policy':
      "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    vary: 'accept-encoding',
  });
});

test.each([
  ['index-Bx1.js', 'text/javascript; charset=utf-8', SCRIPT],
  ['index-Cz2.css', 'text/css; charset=utf-8', STYLE],
  ['logo-D3.svg', 'image/svg+xml', '<svg xmlns="http://www.w3.org/2000/svg"/>'],
  ['inter-E4.woff2', 'font/woff2', 'font'],
])('/assets/%s may be kept for a year', async (name, type, content) => {
  const { get } = await startConsole();
  const { status, headers, body } = await get(`/assets/${name}`);
  expect(status).toBe(200);
  expect(body.toString()).toBe(content);
  expect(headers).toMatchObject({ 'content-type': type, 'cache-control': YEAR });
  expect(headers['content-encoding']).toBeUndefined();
  expect(headers['x-content-type-options']).toBe('nosniff');
});

test('HEAD has the headers and no body', async () => {
  const { get } = await startConsole();
  const { status, headers, body } = await get('/', {}, 'HEAD');
  expect([status, body.length]).toEqual([200, 0]);
  expect(headers['content-length']).toBe(String(INDEX.length));
});

describe('compression', () => {
  test.each([
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip', 'gzip'],
    ['br;q=0.5, gzip', 'gzip'],
    ['br;q=0, *', 'gzip'],
    ['zstd', undefined],
    ['identity, br;q=0.5', undefined],
    ['', undefined],
  ])('for accept-encoding "%s" it is %s', async (accepted, encoding) => {
    const { get } = await startConsole();
    const { headers, body } = await get('/assets/index-Bx1.js', { 'accept-encoding': accepted });
    expect(headers['content-encoding']).toBe(encoding);
    expect(headers.vary).toBe('accept-encoding');
    const decode = { br: brotliDecompressSync, gzip: gunzipSync }[encoding ?? ''] ?? Buffer.from;
    expect(decode(body).toString()).toBe(SCRIPT);
  });

  test('uses the forms that the build made', async () => {
    const { get } = await startConsole();
    const { body } = await get('/assets/index-Cz2.css', { 'accept-encoding': 'br' });
    expect(brotliDecompressSync(body).toString()).toBe('built');
    const { body: other } = await get('/assets/index-Cz2.css', { 'accept-encoding': 'gzip' });
    expect(gunzipSync(other).toString()).toBe(STYLE);
  });

  test('leaves out files that are compressed by themselves', async () => {
    const { get } = await startConsole();
    const { headers } = await get('/assets/inter-E4.woff2', { 'accept-encoding': 'br' });
    expect(headers['content-encoding']).toBeUndefined();
  });
});

test.each(['/', '/assets/index-Bx1.js'])('%s answers 304 to a browser that has it', async (path) => {
  const { get } = await startConsole();
  const seen = new Set<string>();
  for (const encoding of ['br', 'gzip', 'identity']) {
    const { headers } = await get(path, { 'accept-encoding': encoding });
    const etag = headers.etag ?? '';
    expect(etag).toMatch(/^"[\w-]+"$/);
    seen.add(etag);
    const again = await get(path, { 'accept-encoding': encoding, 'if-none-match': `"x", W/${etag}` });
    expect([again.status, again.body.length]).toEqual([304, 0]);
    expect(again.headers).toMatchObject({ etag, 'cache-control': headers['cache-control'] });
    expect((await get(path, { 'accept-encoding': encoding, 'if-none-match': '"x"' })).status).toBe(200);
  }
  expect(seen.size).toBe(3);
});

test.each([
  '/index.html',
  '/secret.txt',
  '/assets',
  '/assets/',
  '/assets/index-Cz2.css.br',
  '/assets/notes.md',
  '/assets/link.js',
  '/assets/deeper/index.js',
  '/assets/../secret.txt',
  '/assets/..%2fsecret.txt',
  '/assets/%2e%2e/secret.txt',
  '/assets//etc/passwd',
  '/sign-in/x',
  '/keysx',
  '/nowhere',
])('%s is no file of the page', async (path) => {
  const { get } = await startConsole();
  const { status, body } = await get(path);
  expect(status).toBe(404);
  expect(JSON.parse(body.toString()).error.data.type).toBe('route_not_found');
});

test('serves no file that is added after the start', async () => {
  const { folder, get } = await startConsole();
  writeFileSync(join(folder, 'assets/late.js'), 'late');
  expect((await get('/assets/late.js')).status).toBe(404);
});

test('the other pages stay as they are', async () => {
  const { get } = await startConsole();
  expect((await get('/docs')).headers['content-type']).toMatch(/^text\/html/);
  expect(JSON.parse((await get('/_/about')).body.toString()).build).toBe('erp-proxy');
  expect((await get('/healthz')).status).toBe(200);
  expect((await get('/', {}, 'POST')).status).toBe(405);
});

test('explains how to build the page if it is missing', async () => {
  const { get } = await startConsole({}, join(makeFolder(), 'dist'));
  for (const path of ['/', '/sign-in', '/keys/x']) {
    const { status, headers, body } = await get(path);
    expect(status).toBe(503);
    expect(body.toString()).toContain('Run "npm run build"');
    expect(headers).toMatchObject({
      'content-type': 'text/plain; charset=utf-8',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    });
  }
});

test('console.enabled turns it off', async () => {
  const { get } = await startConsole({ 'console.enabled': 'false' });
  for (const path of ['/', '/keys', '/assets/index-Bx1.js']) expect((await get(path)).status).toBe(404);
});
