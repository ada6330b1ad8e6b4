import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { printMembers, printOptions } from './print-options.ts';

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

test('a new object needs no option for what is its default, and a change tells all', () => {
  const members = {
    name: 'a',
    url: 'u',
    timeout_ms: null,
    gone: false,
    kind: 'auto',
    fields: ['b', 'c'],
    domain: [],
  };
  const print = (command: 'add' | 'update') =>
    printMembers(command, members, { url: { name: 'receiver' } }, { kind: 'auto', domain: [] });
  expect(print('add')).toBe(' --receiver u --fields b,c');
  expect(print('update')).toBe(
    ` --receiver u --timeout-ms none --no-gone --kind auto --fields b,c --domain '[]'`,
  );
});
