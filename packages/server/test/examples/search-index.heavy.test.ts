/** Tests the index of examples/typescript/search-index.ts, kept in step with a sandbox through the real proxy. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeFolder } from '../process/program.ts';
import { runProgram, type Shop, startShop } from './shop.ts';

const PROGRAM = fileURLToPath(new URL('../../../../examples/typescript/search-index.ts', import.meta.url));

let shop: Shop;
beforeAll(async () => {
  shop = await startShop();
});
afterAll(() => shop.close());

test('finds what was made or changed since, and forgets what was archived, left or deleted', {}, async () => {
  const file = join(makeFolder(), 'contacts.db');
  const run = async (...args: string[]) => {
    const [action, ...words] = args as [string, ...string[]];
    const ran = await runProgram([process.execPath, PROGRAM, action, file, ...words], shop);
    expect(ran.status, ran.stderr).toBe(0);
    return ran.stdout;
  };
  const change = (work: (transaction: ReturnType<Shop['odoo']['begin']>) => void) => {
    const transaction = shop.odoo.begin();
    work(transaction);
    transaction.commit();
  };
  expect(Number.parseInt(await run('update'), 10)).toBeGreaterThan(10);
  expect(await run('search', 'Azure Interior')).toMatch(/Azure Interior/);
  expect(await run('update')).toBe('0 changes\n');
  let made: number[] = [];
  change((transaction) => {
    made = ['One', 'Two', 'Three', 'Four'].map((name) =>
      transaction.create('res.partner', { name: `Zanzibar ${name}`, email: 'info@zanzibar.example' }),
    );
  });
  expect(await run('update')).toBe('4 changes\n');
  expect((await run('search', 'Zanzibar')).trim().split('\n')).toHaveLength(4);
  change((transaction) => {
    transaction.write('res.partner', made[0] as number, { active: false });
    transaction.write('res.partner', made[1] as number, { type: 'other' });
    transaction.unlink('res.partner', made[2] as number);
  });
  expect(await run('update')).toBe('2 changes\n');
  expect((await run('search', 'Zanzibar')).trim().split('\n')).toHaveLength(2);
  expect(await run('prune')).toBe('1 removed\n');
  expect(await run('search', 'Zanzibar')).toBe(`${made[3]}  Zanzibar Four\n`);
});

test('says in one line what is wrong with its start', async () => {
  const file = join(makeFolder(), 'contacts.db');
  const run = (action: string, key?: string) =>
    runProgram([process.execPath, PROGRAM, action, file], shop, key === undefined ? {} : { key });
  expect(await run('update', '')).toEqual({
    status: 1,
    stdout: '',
    stderr: expect.stringMatching(/^.*ERP_PROXY_KEY.*\n$/),
  });
  expect(await run('updat')).toEqual({
    status: 1,
    stdout: '',
    stderr: expect.stringMatching(/^usage: .*\n$/),
  });
});
