import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { printKeyCommand } from './print-key-command.ts';

const NOW = Date.parse('2026-11-26T00:00:00Z');

test('a shell passes the policy on to standard input', () => {
  const policy = { instances: [`it's $HOME`], models: {} };
  const command = printKeyCommand(
    'keys create',
    { name: 'a b', policy, expires_at: '2026-11-27T00:00:00Z' },
    NOW,
  );
  const script = command.replace(/^.*<</, 'cat <<');
  expect(JSON.parse(execFileSync('sh', ['-c', script], { encoding: 'utf8' }))).toEqual(policy);
  expect(command).toMatch(/^keys create --name 'a b' --expires-in 24h --policy - <</);
});

test('no policy is the default of a new key only', () => {
  expect(printKeyCommand('keys create', { name: 'a', policy: null, expires_at: null }, NOW)).toBe(
    'keys create --name a --expires-in never',
  );
  expect(printKeyCommand('keys update k', { policy: null }, NOW)).toBe('keys update k --no-policy');
});
