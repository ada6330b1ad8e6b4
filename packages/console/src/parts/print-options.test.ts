import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { printOptions } from './print-options.ts';

test('a shell passes the values of options on unchanged', () => {
  const printed = printOptions({
    state: 'active',
    search: `it's $HOME`,
    gone: true,
    rest: undefined,
    no: false,
  });
  const words = execFileSync('sh', ['-c', `printf '%s\\n'${printed}`], { encoding: 'utf8' });
  expect(words).toBe(`--state\nactive\n--search\nit's $HOME\n--gone\n`);
});
