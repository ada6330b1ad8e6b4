/** Tests the cache of models' fields: a server that describes large models must not fill the memory. */
import { expect, test } from 'vitest';
import { answerLikeOdoo, printResult } from '../scripted-upstream.ts';
import { startWithScript } from './scripted-odoo.ts';

async function start(fields: object) {
  const described = JSON.stringify(fields);
  const asked: string[] = [];
  const post = await startWithScript((socket, { body }) => {
    const { args } = JSON.parse(body.toString()).params;
    // The proxy also asks for the types of the fields, and caches them elsewhere.
    const isOfTools = args[6]?.attributes?.includes('string') === true;
    if (args[4] === 'fields_get' && isOfTools) asked.push(args[3]);
    const results: Record<string, string> = { fields_get: described, context_get: '{}' };
    answerLikeOdoo(socket, printResult(results[args[4]] ?? '1'));
  });
  return {
    asked,
    async count(model: string) {
      const args = { model, domain: [['kind', '=', 'a']] };
      const params = { name: 'count_records', arguments: args };
      const answer = await post(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }));
      expect(answer).toContain('\\"count\\":1');
    },
  };
}

test('fields with many values are kept for few models, and those of real ones for many', async () => {
  const askAgain = async (selection: string[][]) => {
    const { asked, count } = await start({ kind: { type: 'selection', selection } });
    for (let number = 0; number < 25; number++) await count(`x.model${number}`);
    await count('x.model24');
    await count('x.model0');
    return asked.slice(25);
  };
  expect(await askAgain([['a', 'A']])).toEqual([]);
  expect(await askAgain(Array.from({ length: 30_000 }, (_, index) => [`k${index}`]))).toEqual(['x.model0']);
});
