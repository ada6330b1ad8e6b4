/** Checks the contents of the built page. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';

const dist = fileURLToPath(new URL('../dist', import.meta.url));
const index = readFileSync(join(dist, 'index.html'), 'utf8');
const files = readdirSync(join(dist, 'assets')).map((name) => `assets/${name}`);
const read = (name: string) => readFileSync(join(dist, name));

const FIRST_SCRIPT_BYTES_MAX = 250_000;

test('the script that the first page needs is below 250 kB, compressed with gzip', () => {
  const scripts = [...index.matchAll(/(?:src|href)="\/(assets\/[^"]+\.js)"/g)].map(
    ([, name]) => name as string,
  );
  expect(scripts.length).toBeGreaterThan(0);
  const bytes = scripts.reduce((sum, name) => sum + read(`${name}.gz`).length, 0);
  expect(bytes).toBeLessThan(FIRST_SCRIPT_BYTES_MAX);
});

test('the editor and the charts are not part of the first script', () => {
  const [, first] = /src="\/(assets\/[^"]+\.js)"/.exec(index) ?? [];
  const text = read(first as string).toString();
  // A class name that libraries give to their elements.
  expect(text).not.toContain('cm-editor');
  expect(text).not.toContain('recharts-wrapper');
  const others = files
    .filter((name) => name.endsWith('.js') && name !== first)
    .map((name) => read(name).toString());
  expect(others.some((other) => other.includes('cm-editor'))).toBe(true);
  expect(others.some((other) => other.includes('recharts-wrapper'))).toBe(true);
});

test('the page has no inline script and no address of another server', () => {
  expect(index).not.toMatch(/<script(?![^>]*\bsrc=)[^>]*>/);
  expect(index).not.toMatch(/\son\w+=/);
  for (const [, address] of index.matchAll(/(?:src|href)="([^"]*)"/g)) expect(address).toMatch(/^\/assets\//);
  for (const name of files.filter((file) => file.endsWith('.css'))) {
    expect(read(name).toString()).not.toMatch(/url\(["']?(https?:)?\/\//);
  }
});

test('each file has its compressed copies, with the same content', () => {
  for (const name of ['index.html', ...files.filter((file) => /\.(js|css|svg)$/.test(file))]) {
    expect(gunzipSync(read(`${name}.gz`)).equals(read(name))).toBe(true);
    expect(brotliDecompressSync(read(`${name}.br`)).equals(read(name))).toBe(true);
  }
});
