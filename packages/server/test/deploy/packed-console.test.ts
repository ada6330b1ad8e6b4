/** Tests the console in the tarball: the built page, as the server sends it. */
import { globSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { beforeEach, expect, test } from 'vitest';
import { copyConsole } from '../../../../scripts/pack/copy-console.ts';
import { closeAfterTest } from '../close-after-test.ts';
import { send, startProxy } from '../harness.ts';
import { makeFolder } from '../process/program.ts';

let source: string;
let folder: string;
beforeEach(() => {
  source = join(makeFolder(), 'console');
  folder = makeFolder();
});

function writePage(files: Record<string, string | Buffer>): void {
  mkdirSync(join(source, 'dist/assets'), { recursive: true });
  for (const [name, content] of Object.entries(files)) writeFileSync(join(source, name), content);
}

test('has the built page only, with its compressed forms, which the server sends', async () => {
  const script = 'export const answer = 42;\n'.repeat(100);
  const compressed = brotliCompressSync(script);
  writePage({
    'package.json': '{"dependencies":{"react":"19"}}',
    'dist/index.html': '<p>',
    'dist/assets/a-1.js': script,
    'dist/assets/a-1.js.br': compressed,
  });
  expect(copyConsole(source, folder)).toEqual(['console']);
  expect(globSync('**/*.*', { cwd: folder }).toSorted()).toEqual([
    'console/assets/a-1.js',
    'console/assets/a-1.js.br',
    'console/index.html',
  ]);
  const proxy = closeAfterTest(await startProxy({ consoleFolder: join(folder, 'console') }));
  expect((await send(`${proxy.url}/`)).body.toString()).toBe('<p>');
  const { body } = await send(`${proxy.url}/assets/a-1.js`, { headers: { 'accept-encoding': 'br' } });
  expect(body.equals(compressed)).toBe(true);
});

test('fails clearly if the page is not built', () => {
  mkdirSync(source);
  expect(() => copyConsole(source, folder)).toThrow('The console is not built: run "npm run build"');
});

test('is left out of a repository without a console', () => {
  expect(copyConsole(source, folder)).toEqual([]);
});
