/** Tests that an upgrade of the server from 18 to 19 to 22 while calls run loses no call and repeats none. */
import { expect, test } from 'vitest';
import { openProxy, openSandbox, printOperation } from './stage.ts';

const CALLERS = 20;

test('callers do not notice an upgrade from 18 to 19 to 22', async () => {
  const sandbox = await openSandbox({ version: 18 });
  const proxy = await openProxy([sandbox], 'auto');
  const names: string[] = [];
  const ids: number[] = [];
  let isOver = false;
  const post = async (action: string, params: unknown, keyword: unknown = {}) => {
    const body = printOperation(sandbox, {
      name: action,
      model: 'res.partner',
      action,
      params: JSON.stringify(params),
      keyword: JSON.stringify(keyword),
    });
    const answer = await proxy.post(body);
    expect(answer.body.toString()).toContain('"result":');
    return JSON.parse(answer.body.toString()).result;
  };
  const callers = Array.from({ length: CALLERS }, async (_, caller) => {
    for (let round = 0; !isOver; round++) {
      const name = `Caller ${caller}, round ${round}`;
      names.push(name);
      const id = await post('create', [{ name, credit_limit: 1.5 }]);
      expect(id).toEqual(expect.any(Number));
      ids.push(id);
      expect(await post('read', [[id], ['name', 'credit_limit']])).toEqual([{ id, name, credit_limit: 1.5 }]);
      await post('message_post', [[id]], { body: 'hello' });
    }
  });
  const countCalls = () => proxy.log.filter(({ msg }) => msg === 'call').length;
  /** Waits until calls have ended on the present version, however busy the machine is. */
  const waitForCalls = async () => {
    const before = countCalls();
    await expect.poll(countCalls).toBeGreaterThan(before + 3 * CALLERS);
  };
  for (const version of [19, 22] as const) {
    await waitForCalls();
    sandbox.upgrade(version);
  }
  await waitForCalls();
  isOver = true;
  await Promise.all(callers);

  const found = await post('search_read', [[['name', '=like', 'Caller %']], ['name']], { order: 'id' });
  expect(found.map(({ name }: { name: string }) => name).sort()).toEqual([...names].sort());
  expect(new Set(ids).size).toBe(names.length);
  expect(found.map(({ id }: { id: number }) => id)).toEqual([...ids].sort((a, b) => a - b));
  expect(sandbox.requests.calls['res.partner.create']).toBe(names.length);
  const protocols = proxy.log.filter(({ msg }) => msg === 'call').map(({ protocol }) => protocol);
  expect(new Set(protocols)).toEqual(new Set(['jsonrpc', 'json2']));
  expect(sandbox.requests.routes['/web/version']).toBeUndefined();
  expect(sandbox.requests.routes['/json/version']).toBeUndefined();
});

test.each([
  [19, 18],
  [22, 18],
  [22, 19],
  [18, 22],
] as const)('a server that was %i and is %i now takes the next call', async (before, after) => {
  const sandbox = await openSandbox({ version: before });
  const proxy = await openProxy([sandbox], 'auto');
  const create = (name: string) =>
    proxy.call(
      printOperation(sandbox, {
        name,
        model: 'res.partner',
        action: 'create',
        params: JSON.stringify([{ name }]),
      }),
    );
  expect((await create('before')).json.result).toEqual(expect.any(Number));
  sandbox.upgrade(after);
  expect((await create('after')).json.result).toEqual(expect.any(Number));
  expect(sandbox.requests.calls['res.partner.create']).toBe(2);
});
