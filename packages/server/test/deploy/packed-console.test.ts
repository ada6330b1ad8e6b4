/** The console in the tarball: the built page, with the compressed forms that the server sends. */
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
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

function writePage(files: Record<string, string>): void {
  mkdirSync(join(source, 'dist/assets'), { recursive: true });
  for (const [name, content] of Object.entries(files)) writeFileSync(join(source, name), content);
}

test('has the built page only, which the server serves', async () => {
  const script = 'export const answer = 42;\n'.repeat(100);
  writePage({
    'package.json': '{"dependencies":{"react":"19"}}',
    'dist/index.html': '<p>',
    'dist/assets/a-1.js': script,
    'dist/assets/a-1.js.br': 'of an older build',
    'dist/assets/f-2.woff2': 'font',
  });
  expect(copyConsole(source, folder)).toEqual(['console']);
  expect(globSync('**/*.*', { cwd: folder }).toSorted()).toEqual([
    'console/assets/a-1.js',
    'console/assets/a-1.js.br',
    'console/assets/a-1.js.gz',
    'console/assets/f-2.woff2',
    'console/index.html',
    'console/index.html.br',
    'console/index.html.gz',
  ]);
  const proxy = closeAfterTest(await startProxy({ consoleFolder: join(folder, 'console') }));
  for (const [encoding, decode, suffix] of [
    ['br', brotliDecompressSync, '.br'],
    ['gzip', gunzipSync, '.gz'],
  ] as const) {
    const headers = { 'accept-encoding': encoding };
    const { body } = await send(`${proxy.url}/assets/a-1.js`, { headers });
    expect(decode(body).toString()).toBe(script);
    expect(body.equals(readFileSync(join(folder, `console/assets/a-1.js${suffix}`)))).toBe(true);
  }
});

test('fails clearly if the page is not built', () => {
  mkdirSync(source);
  expect(() => copyConsole(source, folder)).toThrow('The console is not built: run "npm run build"');
});

test('is left out of a repository without a console', () => {
  expect(copyConsole(source, folder)).toEqual([]);
});
