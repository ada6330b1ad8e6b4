/** The code of the README compiles, without the types of Node, and its calls run against a sandbox. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import * as library from '../src/index.ts';
import { startGateway } from './gateway.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const readme = readFileSync(join(ROOT, 'packages/client/README.md'), 'utf8');
const code = [...readme.matchAll(/^```ts\n([\s\S]*?)^```/gm)].map(([, block]) => block).join('\n');

test('the code compiles', () => {
  const folder = mkdtempSync(join(tmpdir(), 'erp-proxy-client-'));
  try {
    const compilerOptions = {
      strict: true,
      noEmit: true,
      target: 'es2023',
      lib: ['es2023', 'dom'],
      types: [],
      module: 'nodenext',
      allowImportingTsExtensions: true,
    };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['readme.mts'] }));
    const source = code.replaceAll("'@erp-proxy/client'", `'${ROOT}packages/client/src/index.ts'`);
    writeFileSync(join(folder, 'readme.mts'), source);
    const { stdout } = spawnSync(join(ROOT, 'node_modules/.bin/tsc'), ['-p', folder], { encoding: 'utf8' });
    expect(stdout).toBe('');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('the calls run', async () => {
  const gateway = await startGateway();
  try {
    const names = ['createClient', 'isErpProxyError', 'console'];
    const script = stripTypeScriptTypes(code).replaceAll(/^import .*$/gm, '');
    const run = Object.getPrototypeOf(async () => {}).constructor(
      ...names,
      `${script}\nreturn { companies, id, newest, first };`,
    );
    const quiet = { log: () => {}, warn: () => {} };
    const results = await run(() => gateway.connect(), library.isErpProxyError, quiet);
    expect(results.companies.length).toBeGreaterThan(0);
    expect(results.newest.map((row: { id: number }) => row.id)).toContain(results.id);
    expect(results.first).toMatchObject({ country_id: [20, 'Belgium'] });
  } finally {
    await gateway.close();
  }
});
