/** Tests docs/fleet.md: errors of a request as a whole. */
import { expect, test } from 'vitest';
import { closeAfterFile } from '../close-after-test.ts';
import { startProxy } from '../harness.ts';
import { addInstance, COUNT, openFleet, readReply } from './fleet-stage.ts';

const settings = { 'vault.masterKey': Buffer.alloc(32, 7).toString('base64') };
const proxy = closeAfterFile(await startProxy({ settings }));
for (const name of ['client-a', 'client-b'])
  await addInstance(proxy, 'https://odoo.invalid', name, { tags: ['production'] });

const ALL = { instances: ['*'] };

test.each<[string, unknown, string | undefined, string]>([
  ['no object', [], undefined, 'The body must be an object, not an array.'],
  ['no call', ALL, 'call', '`call` is missing'],
  ['a call that is no object', { call: 5, ...ALL }, 'call', '`call` must be an object, not a number'],
  [
    'an instance in the call',
    { call: { ...COUNT, erp_instance: { name: 'a' } }, ...ALL },
    'call.erp_instance',
    'leave `erp_instance` out',
  ],
  [
    'a call with a wrong member',
    { call: { ...COUNT, keywords: {} }, ...ALL },
    'call.keywords',
    'Did you mean `keyword`?',
  ],
  ['a call without a method', { call: { model_id: 'a' }, ...ALL }, 'call.action', '`action` is missing'],
  ['a call with a wrong id', { call: { ...COUNT, id: [1] }, ...ALL }, 'call.id', '`id` must be a string'],
  ['a wrong member', { call: COUNT, instance: ['*'] }, 'instance', 'Did you mean `instances`?'],
  ['no choice', { call: COUNT }, 'instances', 'Choose the instances'],
  ['two choices', { call: COUNT, ...ALL, tags: ['production'] }, 'tags', 'not both'],
  [
    'no list',
    { call: COUNT, instances: 'client-a' },
    'instances',
    '`instances` must be a list of 1 to 100 names',
  ],
  ['an empty list', { call: COUNT, tags: [] }, 'tags', '`tags` must be a list of 1 to 100 tags'],
  ['a long list', { call: COUNT, tags: Array(101).fill('production') }, 'tags', '1 to 100'],
  [
    'a tag that is no text',
    { call: COUNT, tags: ['production', 5] },
    'tags[1]',
    '`tags[1]` must be a string',
  ],
  [
    'a tag that nobody has',
    { call: COUNT, tags: ['productoin'] },
    'tags[0]',
    'has the tag "productoin". Near ones: "production".',
  ],
  [
    'a pattern that chooses nothing',
    { call: COUNT, instances: ['*', 'x-*'] },
    'instances[1]',
    'a name that matches "x-*".',
  ],
  ['a wrong concurrency', { call: COUNT, ...ALL, concurrency: 0 }, 'concurrency', 'from 1 to 1000'],
  ['a member twice', '{"call": {}, "call": {}, "instances": ["*"]}', 'call', 'appears twice'],
  [
    'an instance in the call whose name has an escape',
    `{"call": {"erp\\u005finstance": {"name": "a"}, ${JSON.stringify(COUNT).slice(1)}, "instances": ["*"]}`,
    'call.erp_instance',
    'leave `erp_instance` out',
  ],
])('refuses %s', async (_what, body, path, message) => {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const { status, error } = await readReply(await openFleet(proxy, text));
  expect({ status, type: error.data.type, path: error.data.path }).toEqual({
    status: 400,
    type: 'invalid_request',
    path,
  });
  expect(error.message).toContain(message);
});

test('returns the id of the call in an error', async () => {
  const response = await openFleet(proxy, { call: { id: 7, ...COUNT }, instances: ['nobody'] });
  expect(JSON.parse((await readReply(response)).text).id).toBe(7);
});

test('refuses a body of more than 256 KiB', async () => {
  const call = { ...COUNT, params: [['x'.repeat(256 * 1024)]] };
  const { status, error } = await readReply(await openFleet(proxy, { call, ...ALL }));
  expect({ status, message: error.message }).toEqual({ status: 413, message: 'The body may have 256 KiB.' });
});

test('refuses an unknown key before the body', async () => {
  const response = await openFleet(proxy, 'no json', { 'x-proxy-api': 'ep_wrong' });
  expect((await readReply(response)).status).toBe(401);
});
