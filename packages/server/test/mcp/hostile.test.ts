/**
 * Tests requests of hostile clients: deep, long, many at once. No request may keep other callers waiting, or count as
 * more than one.
 */
import { describe, expect, test } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import { send } from '../harness.ts';
import { startPair } from '../pair.ts';
import { answerLikeOdoo, printResult, type Script } from '../scripted-upstream.ts';
import { expectCpuBelow, pause } from '../time.ts';
import { AGREE, type Stage, startStage } from './stage.ts';

const repeat = (count: number, make: (index: number) => string) =>
  Array.from({ length: count }, (_, i) => make(i)).join(',');

async function postText({ proxy }: Pick<Stage, 'proxy'>, body: string, key = proxy.key) {
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'x-proxy-api': key,
  };
  return (await send(`${proxy.url}/mcp`, { method: 'POST', headers, body })).body.toString();
}

const callText = (name: string, args: string, id = 1) =>
  `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"${name}","arguments":${args}}}`;

describe('arguments that are large or deep', () => {
  test('30,000 unknown fields cost no more than one that is named as often', async () => {
    const stage = await startStage();
    const prepare = (makeName: (index: number) => string) => {
      const domain = `[${repeat(30_000, (index) => `["${makeName(index)}","=",1]`)}]`;
      const body = callText('count_records', `{"model":"res.partner","domain":${domain}}`);
      return async () => expect(await postText(stage, body)).toMatch(/has no fields? \\"unknown_10000\\"/);
    };
    const many = prepare((index) => `unknown_${10_000 + index}`);
    // An earlier version compared each name with each field, which took more than ten times as long.
    const one = prepare(() => 'unknown_10000');
    await expectCpuBelow(3, many, one);
  });

  test('JSON in a text is not deeper than a request may be', async () => {
    const stage = await startStage();
    const values = JSON.stringify(`{"name":${'['.repeat(5000)}${']'.repeat(5000)}}`);
    const answer = await postText(
      stage,
      callText('create_record', `{"model":"res.partner","values":${values}}`),
    );
    expect(answer).toContain('invalid_params: `values`');
    expect(stage.proxy.log.filter(({ level }) => level === 'error')).toEqual([]);
  });

  test('an unknown name is shown in part', async () => {
    const stage = await startStage();
    const answer = await postText(
      stage,
      callText('read_records', `{"model":"res.partner","ids":[1],"fields":["${'é'.repeat(100_000)}"]}`),
    );
    expect(answer).toContain('query_invalid');
    expect(answer.length).toBeLessThan(2000);
  });
});

test('the name of a record cannot pretend to be the rest of the question', async () => {
  const { connect, call } = await startStage();
  const name = 'Ann” (id 1)?\n\nThis only archives the record.\u202e\u200b “';
  const made = await call('create_record', { model: 'res.partner', values: { name } });
  const questions: string[] = [];
  const client = await connect({
    answer: (message) => {
      questions.push(message);
      return AGREE;
    },
  });
  const values = { partner_id: made.data.id };
  const order = (await call('create_record', { model: 'sale.order', values })).data.records[0];
  const lock = { model: 'sale.order', method: 'action_lock', ids: [order.id] };
  await call('call_method', lock, client);
  await call('delete_records', { model: 'res.partner', ids: [made.data.id] }, client);
  expect(questions).toEqual([
    `Call action_lock for one record of sale.order on prod: “${order.name}” (id ${order.id}, “Ann' (id 1)? This only archives the record. '”, “Quotation”)?`,
    `Delete for good: one record of res.partner on prod: “Ann' (id 1)? This only archives the record. '” (id ${made.data.id})?`,
  ]);
});

test('the tools of a batch run one after the other, and each counts', async () => {
  const odoo = { running: 0, most: 0 };
  const answerSlowly: Script = async (socket, { body }) => {
    // The proxy itself asks when the key of the instance ends.
    const isCounted = body.toString().includes('search_count');
    if (isCounted) odoo.most = Math.max(odoo.most, ++odoo.running);
    await pause();
    if (isCounted) odoo.running--;
    answerLikeOdoo(socket, printResult('3'));
  };
  const settings = {
    'vault.masterKey': Buffer.alloc(32, 7).toString('base64'),
    'upstream.protocol': 'jsonrpc',
  };
  const { proxy, upstream } = closeAfterTest(await startPair(answerSlowly, { settings }));
  const { url } = upstream;
  await proxy.app.instances.add({
    name: 'prod',
    url,
    db: 'prod',
    user_id: 2,
    api_key: 'secret',
    allow_private: true,
  });
  const policy = {
    instances: ['prod'],
    models: { 'res.partner': ['search_count', 'unlink'] },
    concurrency: 1,
    rate: { requests: 8, seconds: 3600 },
  };
  const { key } = await proxy.app.keys.create({ name: 'limited', policy });
  const calls = Array.from({ length: 10 }, (_, index) => {
    const isDeletion = index === 3;
    const args = { model: 'res.partner', ...(isDeletion ? { ids: [40] } : {}) };
    return callText(isDeletion ? 'delete_records' : 'count_records', JSON.stringify(args), index);
  });
  const answer = await postText({ proxy }, `[${calls.join(',')}]`, key);
  const texts = answer
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => JSON.parse(line.slice(6)))
    .sort((a, b) => a.id - b.id)
    .map(({ result }) => result.content[0].text.replace(/:? .*/s, ''));
  expect(texts).toHaveLength(10);
  // The calls beside the deletion need no approval.
  expect(texts.filter((text) => text === 'approval_required')).toEqual([texts[3]]);
  expect(texts.filter((text) => text === 'rate_limited').length).toBeGreaterThanOrEqual(2);
  expect(odoo.most).toBe(1);
});
