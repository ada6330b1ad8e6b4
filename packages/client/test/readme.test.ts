/** Compiles the code of the README without the types of Node, and runs its calls against a sandbox. */
import { readFileSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { compile } from '../../server/test/compile.ts';
import { makeFolder } from '../../server/test/process/program.ts';
import * as library from '../src/index.ts';
import { startGateway } from './gateway.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const readme = readFileSync(join(ROOT, 'packages/client/README.md'), 'utf8');
const code = [...readme.matchAll(/^```ts\n([\s\S]*?)^```/gm)].map(([, block]) => block).join('\n');

test('the code compiles', () => {
  const folder = makeFolder();
  writeFileSync(join(folder, 'readme.mts'), code);
  expect(compile(folder, 'readme.mts')).toBe('');
});

test('the calls run', async () => {
  const gateway = await startGateway();
  try {
    const names = ['createClient', 'isErpProxyError', 'console'];
    const script = stripTypeScriptTypes(code).replaceAll(/^import .*$/gm, '');
    const run = Object.getPrototypeOf(async () => {}).constructor(
      ...names,
      `${script}\nreturn { companies, id, newest, first, contact };`,
    );
    const quiet = { log: () => {}, warn: () => {} };
    const connect = ({ values }: { values?: string } = {}) =>
      values === 'normalized' ? gateway.connectNormalized() : gateway.connect();
    const results = await run(connect, library.isErpProxyError, quiet);
    expect(results.companies.length).toBeGreaterThan(0);
    expect(results.newest.map((row: { id: number }) => row.id)).toContain(results.id);
    expect(results.contact).toMatchObject({ id: results.id, country_id: null, email: 'azure@example.com' });
    expect(results.first).toMatchObject({ country_id: [20, 'Belgium'] });
  } finally {
    await gateway.close();
  }
});
