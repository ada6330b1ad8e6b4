/** Tests members of `_meta` that concern the calls of a tool: idempotency keys and traces. */
import type { Client } from '@modelcontextprotocol/client';
import { expect, test } from 'vitest';
import { AGREE, type Stage, startStage } from './stage.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const TRACEPARENT = `00-${TRACE}-00f067aa0ba902b7-01`;

async function call(client: Client, name: string, args: object, _meta: Record<string, unknown>) {
  const result = await client.callTool({ name, arguments: args as Record<string, unknown>, _meta });
  const [first] = result.content as { text: string }[];
  return { isError: result.isError === true, text: first?.text ?? '', data: result.structuredContent };
}

async function countPartners({ call }: Stage, name: string): Promise<number> {
  return (await call('count_records', { model: 'res.partner', domain: [['name', '=', name]] })).data.count;
}

const CREATE = { model: 'res.partner', values: { name: 'Nova Design' } };

test.each(['modern', 'legacy'] as const)(
  'a retried tool call of a %s client creates one record',
  async (mode) => {
    const stage = await startStage();
    const client = await stage.connect({ mode });
    const meta = { 'idempotency-key': 'task 7, "ü"' };
    // The first call also asks Odoo for the fields and the user; the retry does not.
    const first = await call(client, 'create_record', CREATE, meta);
    const retry = await call(client, 'create_record', CREATE, meta);
    expect(first.isError).toBe(false);
    expect(retry).toEqual(first);
    expect(await countPartners(stage, 'Nova Design')).toBe(1);
    const other = await call(client, 'create_record', CREATE, { 'idempotency-key': 'task 8' });
    expect(other.data).not.toEqual(first.data);
  },
);

test('the header gives the same protection, to all calls that change records', async () => {
  const stage = await startStage();
  const connect = (key: string) =>
    stage.connect({ headers: { 'idempotency-key': key }, answer: () => AGREE });
  const order = { model: 'sale.order', method: 'message_post', ids: [4], keyword: { body: 'called' } };
  const posted = await stage.call('call_method', order, await connect('post'));
  expect((await stage.call('call_method', order, await connect('post'))).data).toEqual(posted.data);
  const again = await stage.call('call_method', order, await connect('post again'));
  expect(again.data).not.toEqual(posted.data);
  const client = await connect('delete');
  const deletion = { model: 'res.partner', ids: [40] };
  expect((await stage.call('delete_records', deletion, client)).data).toEqual({ deleted: [40] });
  // Without the idempotency key, Odoo would say that the record is missing.
  expect((await stage.call('delete_records', deletion, client)).data).toEqual({ deleted: [40] });
  // Answers to reads are not stored for retries.
  expect(
    (await stage.call('count_records', { model: 'res.partner', domain: [['id', '=', 40]] }, client)).data,
  ).toEqual({ count: 0 });
});

test('a key that was used for other arguments runs nothing', async () => {
  const stage = await startStage();
  const client = await stage.connect();
  const meta = { 'idempotency-key': 'one' };
  await call(client, 'create_record', CREATE, meta);
  const other = { model: 'res.partner', values: { name: 'Another' } };
  const refused = await call(client, 'create_record', other, meta);
  expect(refused.text).toContain('idempotency_conflict');
  expect(await countPartners(stage, 'Another')).toBe(0);
});

test.each([1, null, '', 'x'.repeat(256), ['x']])('refuses the idempotency key %j', async (key) => {
  const stage = await startStage();
  const client = await stage.connect();
  const refused = await call(client, 'create_record', CREATE, { 'idempotency-key': key });
  expect(refused.text).toContain('invalid_params: `_meta.idempotency-key` must be');
  expect(await countPartners(stage, 'Nova Design')).toBe(0);
});

test('refuses a key that differs from the header', async () => {
  const stage = await startStage();
  const client = await stage.connect({ headers: { 'idempotency-key': 'a' } });
  const refused = await call(client, 'create_record', CREATE, { 'idempotency-key': 'b' });
  expect(refused.text).toContain('the same as the header');
});

test('calls of a tool are part of the trace in `_meta`, or else in the header', async () => {
  const stage = await startStage();
  const client = await stage.connect({ headers: { traceparent: TRACEPARENT.replace('4bf9', '0000') } });
  const args = { model: 'crm.lead' };
  await call(client, 'count_records', args, { traceparent: TRACEPARENT });
  await call(client, 'count_records', args, {});
  await call(client, 'count_records', args, { traceparent: 5 });
  const other = TRACE.replace('4bf9', '0000');
  const listTraces = () =>
    stage.proxy.log.flatMap(({ method, traceId }) => (method === 'search_count' ? [traceId] : []));
  await expect.poll(listTraces).toEqual([TRACE, other, other]);
  const listAudited = async () => {
    const { items } = await stage.proxy.app.audit.search({ limit: 50 });
    return items.flatMap((item) => ('trace_id' in item ? [item.trace_id] : []));
  };
  // The audit is written in the background.
  await expect.poll(listAudited).toContain(TRACE);
});
