/** Tests the examples of docs/changes.md against the real proxy and a sandbox. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { compile } from '../compile.ts';
import { runProgram, type Shop, startShop } from '../examples/shop.ts';
import { makeFolder } from '../process/program.ts';

const root = fileURLToPath(new URL('../../../../', import.meta.url));
const page = readFileSync(join(root, 'docs/changes.md'), 'utf8');
const findBlock = (language: string) =>
  new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'm').exec(page)?.[1] as string;

let shop: Shop;
beforeAll(async () => {
  shop = await startShop();
});
afterAll(() => shop.close());

test('the request prints the answer that the page shows', async () => {
  // The shell only splits the command into words, because curl may be missing.
  const line = `KEY=$ERP_PROXY_KEY; curl() { printf '%s\\n--\\n' "$@"; }; ${findBlock('sh')}`;
  const { stdout } = await runProgram(['sh', '-c', line], shop);
  const words = stdout.split('\n--\n');
  const headers = words.filter((_, index) => words[index - 1] === '-H').map((header) => header.split(': '));
  const url = words.find((word) => word.startsWith('http:')) as string;
  const answer = await fetch(url.replace('http://127.0.0.1:8787', shop.proxy.url), {
    method: 'POST',
    headers: Object.fromEntries(headers),
    body: words[words.indexOf('-d') + 1] as string,
  });
  const hideCursor = (text: string) => text.trim().replace(/"c1\.[^"]+"/, '<cursor>');
  expect(hideCursor(await answer.text())).toBe(hideCursor(findBlock('json')));
});

test('the program compiles and runs', async () => {
  const folder = makeFolder();
  const head = `import { createClient } from '${root}packages/client/src/index.ts';\nconst client = createClient();\n`;
  writeFileSync(join(folder, 'page.mts'), head + findBlock('ts'));
  expect(compile(folder, 'page.mts')).toBe('');
  const ran = await runProgram([process.execPath, join(folder, 'page.mts')], shop);
  expect(ran).toMatchObject({ status: 0, stderr: '' });
  expect(ran.stdout).toMatch(/^store \d+ YourCompany$/m);
});
