/** Tests `limit_max` for the related records of a specification. */
import { beforeAll, expect, test } from 'vitest';
import { closeAfterFile } from '../close-after-test.ts';
import { startLimited } from './limited-key.ts';

let limited: Awaited<ReturnType<typeof startLimited>>;
beforeAll(async () => {
  limited = await startLimited({ limit_max: 2 }, 18, closeAfterFile);
});

const readPartner = async (lines: object) =>
  await limited.call('web_read', 'res.partner', [[1], { name: {}, child_ids: lines }]);

test('a specification without a limit is refused, and says what to do', async () => {
  for (const lines of [{ fields: { name: {} } }, { fields: { name: {} }, limit: 3 }]) {
    const { error } = await readPartner(lines);
    expect(error.data).toMatchObject({ type: 'policy_denied', rule: 'limit_max' });
    expect(error.message).toContain('Each field with `fields` in a specification needs a `limit`');
  }
});

test('also where a write or a form returns the records', async () => {
  const models = { 'res.partner': ['read', 'write', 'web_save', 'onchange', 'export_data'] };
  const saving = await limited.limit({ models, limit_max: 2 });
  const lines = { child_ids: { fields: { name: {} } } };
  const limits = { child_ids: { fields: { name: {} }, limit: 2 } };
  for (const [method, params] of [
    ['web_save', [[1], {}]],
    ['onchange', [[1], {}, []]],
  ] as const) {
    const refused = await saving.call(method, 'res.partner', [...params, lines]);
    expect(refused.error.data, method).toMatchObject({ type: 'policy_denied', rule: 'limit_max' });
    expect(await saving.call(method, 'res.partner', [...params, limits]), method).toHaveProperty('result');
  }
  const next = await saving.call('web_save', 'res.partner', [[1], {}, { name: {} }, [1, 2, 3]]);
  expect(next.error.data.rule).toBe('limit_max');
  const paths = await saving.call('export_data', 'res.partner', [[1], ['child_ids/name']]);
  expect(paths.error.data.rule).toBe('limit_max');
});

test('a column of export_data with the names of several records is refused', async () => {
  for (const fields of [undefined, { 'res.partner': { deny: ['vat'] } }]) {
    const models = { 'res.partner': ['export_data'], 'res.country': ['read'] };
    const exporting = await limited.limit({ models, limit_max: 2, ...(fields && { fields }) });
    const names = await exporting.call('export_data', 'res.partner', [[1], ['name', 'child_ids']]);
    expect(names.error.data).toMatchObject({ type: 'policy_denied', rule: 'limit_max' });
    expect(names.error.message).toContain('the column `child_ids` gives the names of all of them');
    expect(await exporting.call('export_data', 'res.partner', [[1], ['name', 'country_id']])).toHaveProperty(
      'result',
    );
  }
  const models = { 'res.partner': ['export_data'] };
  const free = await limited.limit({ models });
  expect(await free.call('export_data', 'res.partner', [[1], ['child_ids']])).toHaveProperty('result');
});

test('a call without a specification is not told about them', async () => {
  const { error } = await limited.call('web_read', 'res.partner', [[1, 2, 3], { name: {} }]);
  expect(error.message).toBe(
    'This key may read at most 2 records a call, and this one can give more: ask for fewer.',
  );
});

test('one with a limit runs, and one without fields returns ids', async () => {
  expect((await readPartner({ fields: { name: {} }, limit: 2 })).result).toHaveLength(1);
  expect((await readPartner({})).result).toHaveLength(1);
});
