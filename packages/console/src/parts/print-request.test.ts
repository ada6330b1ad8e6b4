import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import type { AdminRequest } from '../api/send.ts';
import { printCurl, printTypescript, quote } from './print-request.ts';

const SECRET = 'do-not-show';
const REQUEST: AdminRequest = {
  method: 'POST',
  path: '/instances',
  query: { search: `it's`, state: undefined },
  body: { name: `O'Hara "x" $HOME`, api_key: SECRET },
  ifMatch: '"3-mwysl96q"',
};

test('a shell passes the words of a printed curl on unchanged, with the secret from a variable', () => {
  const script = printCurl(REQUEST, 'https://proxy.example.com').replace(/^curl/, 'printf "%s\\n"');
  const words = execFileSync('sh', ['-c', script], {
    encoding: 'utf8',
    env: { ...process.env, ODOO_API_KEY: 'from-variable', ERP_PROXY_ADMIN_TOKEN: 'token' },
  });
  expect(words).toContain('https://proxy.example.com/admin/v1/instances?search=it%27s\n');
  expect(words).toContain('authorization: Bearer token\n');
  expect(words).toContain('if-match: "3-mwysl96q"\n');
  const body = /-d\n([\s\S]*)$/.exec(words)?.[1] ?? '';
  expect(JSON.parse(body)).toEqual({ name: `O'Hara "x" $HOME`, api_key: 'from-variable' });
});

test('no secret is printed', () => {
  for (const code of [printCurl(REQUEST, 'http://a'), printTypescript(REQUEST, 'http://a')]) {
    expect(code).not.toContain(SECRET);
  }
  expect(printTypescript(REQUEST, 'http://a')).toContain('"api_key": process.env.ODOO_API_KEY');
});

test('quotes end where a shell ends them', () => {
  expect(execFileSync('sh', ['-c', `printf %s ${quote(`a'b"c\\d`)}`], { encoding: 'utf8' })).toBe(`a'b"c\\d`);
});
