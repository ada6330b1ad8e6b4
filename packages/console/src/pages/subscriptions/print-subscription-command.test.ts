import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { printSubscriptionCommand } from './print-subscription-command.ts';

test.each([[[['name', '=', `it's "$HOME"`]]], [['&', '|']]])(
  'a shell passes the domain on unchanged: %j',
  (domain) => {
    const printed = printSubscriptionCommand('add', 'contacts', {
      domain,
      fields: ['name', 'email'],
      key: null,
    });
    const words = execFileSync('sh', ['-c', `printf '%s\\n' ${printed}`], { encoding: 'utf8' }).split('\n');
    expect(JSON.parse(words[words.indexOf('--domain') + 1] ?? '')).toEqual(domain);
    expect(words).toContain('name,email');
    expect(words).not.toContain('--key');
  },
);

test('an update can end the rule of a key', () => {
  expect(printSubscriptionCommand('update', 'a', { gone: false, key: null })).toBe(
    'subscriptions update a --no-gone --key none',
  );
});
