import { INSTANCE_OPTIONS } from '@erp-proxy/contract';
import { INSTANCE_INPUT, SUBSCRIPTION_MEMBERS } from '@erp-proxy/contract/admin';
import { expect, test } from 'vitest';
import type { CommandInput } from './command.ts';
import { listMemberOptions, readMembers } from './member-options.ts';

/** Input as a person types it. All files have the same content. */
function type(options: Record<string, string | true>): CommandInput {
  return {
    option: (name: string) => (typeof options[name] === 'string' ? options[name] : undefined),
    isSet: (name: string) => options[name] === true,
    readInput: async () => Buffer.from('content\r\n'),
  } as unknown as CommandInput;
}
const readInstance = (options: Record<string, string | true>) =>
  readMembers(type(options), INSTANCE_INPUT, INSTANCE_OPTIONS);
const readSubscription = (options: Record<string, string>) =>
  readMembers(type(options), SUBSCRIPTION_MEMBERS, {});

test('an option has the name and the kind of its member', () => {
  const options = listMemberOptions(INSTANCE_INPUT, INSTANCE_OPTIONS);
  expect(options['erp-url']).toMatchObject({ value: 'text' });
  expect(options['timeout-ms']).toMatchObject({ value: 'number' });
  expect(options['key-expires-at']).toMatchObject({ value: 'time' });
  expect(options['api-key-file']).toMatchObject({ value: 'file' });
  expect(options['protocol']).toMatchObject({ choices: ['auto', 'jsonrpc', 'json2'] });
  expect(options).not.toHaveProperty('url');
  expect(options).not.toHaveProperty('no-rotate-key');
});

test('for a change, a switch has an opposite, and no option tells a default', () => {
  const options = listMemberOptions(INSTANCE_INPUT, INSTANCE_OPTIONS, { isChange: true });
  expect(options).toHaveProperty('no-rotate-key');
  expect(JSON.stringify(options)).not.toContain('Default');
});

test('values are those of the members, and what is not given is left out', async () => {
  const given = {
    'erp-url': 'https://a',
    'user-id': '7',
    'timeout-ms': 'none',
    'no-allow-private': true,
  } as const;
  expect(await readInstance(given)).toEqual({
    url: 'https://a',
    user_id: 7,
    timeout_ms: null,
    allow_private: false,
  });
  const typed = { domain: '[["id",">",1]]', fields: 'name, email', 'interval-seconds': '5', key: 'none' };
  expect(await readSubscription(typed)).toEqual({
    domain: [['id', '>', 1]],
    fields: ['name', 'email'],
    interval_seconds: 5,
    key: null,
  });
});

test('a key is one line of its file, and certificates are the file as it is', async () => {
  expect(await readInstance({ 'api-key-file': './key', 'certificates-file': './pem' })).toEqual({
    api_key: 'content',
    certificates: 'content\r\n',
  });
  // `none` removes a member only if that can be null.
  expect(await readInstance({ db: 'none', 'api-key-file': 'none' })).toEqual({ db: 'none', api_key: null });
});

test.each([
  [{ 'user-id': '1e3' }, '--user-id "1e3" is not a whole number.'],
  [{ 'user-id': '-1' }, '--user-id "-1" is not a whole number.'],
  [{ 'rotate-key': true, 'no-rotate-key': true } as const, 'exclude each other'],
])('%j is refused', async (options, message) => {
  await expect(readInstance(options)).rejects.toThrow(message);
});

test.each(['{"a": 1}', '[', 'null', ''])('the domain %s is refused', async (domain) => {
  await expect(readSubscription({ domain })).rejects.toThrow('--domain is not a JSON list');
});
