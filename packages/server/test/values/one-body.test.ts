/** Tests bodies that only some versions of Odoo take, and mistakes that every version answers alike. */
import { expect, test } from 'vitest';
import { EACH_VERSION, startStage } from '../mcp/stage.ts';

test.each(EACH_VERSION)('one body of name_search serves %s over %s', async (version, protocol) => {
  const { proxy } = await startStage({ version, settings: { 'upstream.protocol': protocol } });
  const run = async (keyword: object, params: unknown[] = []) =>
    (
      await proxy.call({
        action: 'name_search',
        model_id: 'res.partner',
        params,
        keyword,
        erp_instance: { name: 'prod' },
      })
    ).json;
  const positional = await run({ limit: 2 }, ['a', [['id', '>', 3]]]);
  expect(positional.result).toHaveLength(2);
  for (const domain of ['args', 'domain']) {
    const keyword = { [domain]: [['id', '>', 3]], limit: 2 };
    expect(await run({ name: 'a', ...keyword })).toEqual(positional);
    expect(await run(keyword, ['a'])).toEqual(positional);
    const twice = await run({ name: 'a', ...keyword }, ['a']);
    expect(twice.error.data.type).toBe('arguments_invalid');
  }
  const all = await run({ limit: 3 }, ['', [['id', '>', 3]]]);
  expect(await run({ limit: 3, domain: [['id', '>', 3]] })).toEqual(all);
  // A call with two domains is a mistake, which Odoo reports.
  const both = await run({ name: 'a', args: [], domain: [] });
  expect(both.error.data.type).toBe('arguments_invalid');
});

test.each(EACH_VERSION)('flat ids get a hint on %s over %s', async (version, protocol) => {
  const { proxy } = await startStage({ version, settings: { 'upstream.protocol': protocol } });
  const call = { action: 'read', model_id: 'res.partner', params: [9, 10], erp_instance: { name: 'prod' } };
  const { error } = (await proxy.call(call)).json;
  expect(error).toMatchObject({
    data: { type: 'arguments_invalid' },
    message: expect.stringContaining('`[[9, 10]]`'),
  });
});

test.each(EACH_VERSION)(
  'a day with an offset in a domain is query_invalid before 19: %s over %s',
  async (version, protocol) => {
    const { proxy } = await startStage({ version, settings: { 'upstream.protocol': protocol } });
    const params = [[['create_date', '>=', 'today -3650d']]];
    const call = { action: 'search_count', model_id: 'res.partner', params, erp_instance: { name: 'prod' } };
    const { result, error } = (await proxy.call(call)).json;
    if (version >= 19) expect(result).toEqual(expect.any(Number));
    else expect(error.data.type).toBe('query_invalid');
  },
);
