import { expect, test } from 'vitest';
import { normalizeRemote } from '../../../../scripts/pack/repository.ts';

const PUBLIC = 'git+https://git.example.com/team/erp-proxy.git';

test.each([
  'https://git.example.com/team/erp-proxy.git',
  'https://git.example.com/team/erp-proxy',
  'https://git.example.com/team/erp-proxy/',
  'https://user:token@git.example.com/team/erp-proxy.git',
  'ssh://git@git.example.com:2222/team/erp-proxy.git',
  'git@git.example.com:team/erp-proxy.git',
  'git.example.com:team/erp-proxy.git',
])('the remote %s has a public address, without credentials', (remote) => {
  expect(normalizeRemote(remote)).toBe(PUBLIC);
});

test.each([
  '',
  '/srv/git/erp-proxy',
  '../erp-proxy',
  'file:///srv/git/x',
  'C:/repositories/erp-proxy',
  'http://localhost/x',
  'https://127.0.0.1/x',
  'host:path',
])('the remote "%s" is no address for others', (remote) => {
  expect(normalizeRemote(remote)).toBeNull();
});
