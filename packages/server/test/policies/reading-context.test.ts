/** Tests the context of calls with keys that may only read. */
import { beforeAll, expect, test } from 'vitest';
import { closeAfterFile } from '../close-after-test.ts';
import { startLimited } from './limited-key.ts';

const MODELS = { '*': ['*', 'read', 'web_read'] };

let limited: Awaited<ReturnType<typeof startLimited>>;
beforeAll(async () => {
  limited = await startLimited({ read_only: true, models: MODELS }, 18, closeAfterFile);
});

const read = async (context: unknown) =>
  await limited.call('read', 'res.partner', [[9], ['name']], { context });

test.each([
  undefined,
  null,
  {},
  { lang: 'en_US', tz: 'Europe/Paris', allowed_company_ids: [1], active_test: false },
  { show_address: true, default_name: 'x', search_default_name: 'y' },
  // Omitted.
  { signup_valid: false },
])('a read with a harmless context runs: %j', async (context) => {
  expect((await read(context)).result).toHaveLength(1);
});

test.each([
  [{ signup_valid: true }, 'signup_valid'],
  [{ lang: 'en_US', signup_valid: 1 }, 'signup_valid'],
  [{ x_unknown: 1 }, 'x_unknown'],
])('a member that is not known to be harmless is refused: %j', async (context, name) => {
  const { error } = await read(context);
  expect(error.data).toMatchObject({ type: 'policy_denied', rule: 'read_only' });
  expect(error.message).toContain(`\`${name}\``);
});

test('so is a context within a specification of fields', async () => {
  const specification = { name: {}, parent_id: { fields: { name: {} }, context: { signup_valid: true } } };
  const { error } = await limited.call('web_read', 'res.partner', [[9]], { specification });
  expect(error.data).toMatchObject({ type: 'policy_denied', rule: 'read_only' });
});

test('a key that may write sends any context', async () => {
  const { call } = await limited.limit({});
  const { result } = await call('read', 'res.partner', [[9], ['name']], { context: { x_unknown: 1 } });
  expect(result).toHaveLength(1);
});
