/** Tests that the event loop is free for other callers while a body of the maximum size is checked and sent. */
import { expect, test } from 'vitest';
import { BLOCKED_MS_MAX, takeMedian } from '../measure-blocking.ts';
import { makeCall } from '../scripted-upstream.ts';
import { pause } from '../time.ts';
import { makeJson2Body, makeLargeBodies, makeTinyChunks } from './bodies.ts';
import { type Posted, type Stage, startStage } from './stage.ts';

/** Time between two small calls. */
const BETWEEN_MS = 5;
/** Bodies that the rules for related records also check, to their end. */
const RELATED = new Set(['records', 'numbers', 'one string', 'batch']);

/** A message to `/mcp`. `list` is JSON text. */
function printMessage(list: string): Buffer {
  return Buffer.from(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":${list}}}`);
}

/** Sends the body while small calls follow each other. */
async function expectUnblocked(
  stage: Stage,
  { key, name }: { key: string; name: string },
  post: (run: number) => Promise<void>,
): Promise<void> {
  let run = 0;
  const blockedMs = await takeMedian(async () => {
    let isEnded = false;
    await stage.readLongestGap();
    const posting = post(run++).finally(() => {
      isEnded = true;
    });
    let small = 0;
    do {
      const answer = await stage.post({ key, body: Buffer.from(JSON.stringify(makeCall(stage.odoo))) });
      expect(answer.status, name).toBe(200);
      small++;
      await pause(BETWEEN_MS);
    } while (!isEnded);
    await posting;
    expect(small, name).toBeGreaterThan(1);
    return await stage.readLongestGap();
  });
  expect(blockedMs, name).toBeLessThan(BLOCKED_MS_MAX);
}

/** The test is split into parts, so that each ends within the time limit of a test on a busy machine too. */
const PARTS = [1, 2, 3, 4];

test.each(PARTS)('no pass over a large body blocks the event loop, part %i', async (part) => {
  const stage = await startStage();
  const key = await stage.makeKey();
  const checked = await stage.makeKey({
    origins: [stage.odoo],
    models: { 'res.*': ['*'] },
    approve: { 'res.partner': ['unlink'] },
    fields: { 'res.partner': { deny: ['vat'] } },
    companies: [1, 2],
    limit_max: 1000,
  });
  const related = await stage.makeKey({
    origins: [stage.odoo],
    models: { 'res.partner': ['*'], 'res.users': ['read'] },
    companies: [1, 2],
    limit_max: 10_000_000,
  });
  const normalized = { prefer: 'values=normalized' };
  const bodies = makeLargeBodies(stage.odoo).filter((_, index) => index % PARTS.length === part - 1);
  expect(bodies).not.toEqual([]);
  for (const { name, bytes } of bodies) {
    const send = (posted: Omit<Posted, 'body'>) => async (run: number) => {
      const headers = { ...posted.headers, 'idempotency-key': `${name} ${posted.key} ${run}` };
      const { status } = await stage.post({ ...posted, headers, body: bytes });
      expect([200, 403], name).toContain(status);
    };
    await expectUnblocked(stage, { key, name }, send({ key }));
    const rules = { key, name: `${name}, with rules` };
    await expectUnblocked(stage, rules, send({ key: checked, headers: normalized }));
    if (!RELATED.has(name)) continue;
    const records = { key, name: `${name}, with rules for related records` };
    await expectUnblocked(stage, records, send({ key: related, headers: normalized }));
  }
});

test('neither does a body of another route, nor one in chunks of one byte', async () => {
  const stage = await startStage();
  const key = await stage.makeKey();
  const { erp_instance, model_id } = makeCall(stage.odoo);
  const file = {
    path: '/api/erp/upload',
    headers: {
      'content-type': 'application/octet-stream',
      'x-erp-call': JSON.stringify({ erp_instance, model_id, record: 1, field: 'image_1920' }),
    },
    body: Buffer.alloc(20 * 1024 ** 2, 65),
  };
  const mostValues = {
    path: '/mcp',
    headers: { accept: 'application/json, text/event-stream' },
    body: printMessage(`[${'1,'.repeat(99_990)}1]`),
  };
  // A short body is sent several times, because a single one may take less time than the small call beside it.
  const cases: [string, Omit<Posted, 'key'>, number[], count: number][] = [
    ['json2', { path: '/v2/odoo/execute', body: makeJson2Body(stage.odoo, 32 * 1024 ** 2) }, [200, 500], 1],
    ['file', file, [200], 1],
    ['mcp', { path: '/mcp', body: Buffer.from(`[${'1,'.repeat(500_000)}1]`) }, [413], 10],
    ['mcp, most values', mostValues, [200, 400], 10],
    ['mcp, most messages', { path: '/mcp', body: Buffer.from(`[${'1,'.repeat(99_999)}1]`) }, [413], 10],
    ['tiny chunks', { body: () => makeTinyChunks(JSON.stringify(makeCall(stage.odoo)), 150_000) }, [200], 1],
  ];
  for (const [name, posted, statuses, count] of cases) {
    await expectUnblocked(stage, { key, name }, async () => {
      for (let sent = 0; sent < count; sent++) {
        const { status, body } = await stage.post({ key, ...posted });
        expect(statuses, `${name}: ${body.toString('utf8', 0, 500)}`).toContain(status);
      }
    });
  }
});

test('neither does a long answer', async () => {
  const stage = await startStage([`--vault.masterKey=${Buffer.alloc(32, 7).toString('base64')}`]);
  const key = await stage.makeKey();
  await stage.addInstance();
  const call = Buffer.from(
    JSON.stringify(
      makeCall(stage.odoo, { action: 'search_read', params: [[]], keyword: { fields: ['name', 'comment'] } }),
    ),
  );
  const row = '{"id": 1, "name": "Deco Addict", "comment": false}';
  const rows = `[${`${row}, `.repeat(1_000_000)}${row}]`;
  const text = JSON.stringify({ message: 'x'.repeat(6 * 1024 ** 2), list: Array(200_000).fill(1.5) });
  const fault = `{"jsonrpc": "2.0", "id": 1, "error": {"code": 200, "message": "x", "data": {"debug": ${text}}}}`;
  const lines = Array.from({ length: 1900 }, (_, index) => 10_000_000 + index);
  const related = Array.from({ length: 60 }, (_, id) => ({ id, name: 'Deco Addict', child_ids: lines }));
  const words = Array.from({ length: 100 }, (_, id) => ({
    id,
    name: 'Deco Addict',
    comment: 'é"<p>'.repeat(1400),
  }));
  // A short answer is requested several times, because a single one may take less time than the small call beside it.
  const answers: [string, Stage['answer'], Record<string, string>, count: number][] = [
    ['a result', { result: rows }, {}, 1],
    ['a converted result', { result: rows }, { prefer: 'values=normalized' }, 1],
    ['a compressed result', { result: rows }, { 'accept-encoding': 'gzip' }, 1],
    ['a fault', { body: Buffer.from(fault) }, {}, 5],
    ['no JSON', { body: Buffer.from(`${fault}}`) }, {}, 5],
  ];
  for (const [name, answer, headers, count] of answers) {
    await expectUnblocked(stage, { key, name }, async () => {
      stage.answer = answer;
      for (let sent = 0; sent < count; sent++) await stage.post({ key, headers, body: call });
    });
  }
  const search = {
    name: 'search_records',
    arguments: { model: 'res.partner', fields: ['name', 'comment', 'child_ids'] },
  };
  const posted = {
    path: '/mcp',
    headers: { accept: 'application/json, text/event-stream' },
    body: Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: search })),
  };
  for (const [name, records] of Object.entries({ related, words })) {
    await expectUnblocked(stage, { key, name: `${name}, for a tool` }, async () => {
      stage.answer = { result: JSON.stringify(records) };
      for (let sent = 0; sent < 5; sent++) {
        const { body } = await stage.post({ key, ...posted });
        expect(body.toString('utf8', 0, 500)).toContain('Deco Addict');
      }
    });
  }
});

test('neither does a long record of an export as CSV', async () => {
  const stage = await startStage();
  const key = await stage.makeKey();
  const { erp_instance, model_id } = makeCall(stage.odoo);
  const fields = ['name', 'comment'];
  const body = Buffer.from(JSON.stringify({ erp_instance, model_id, fields, format: 'csv', limit: 1 }));
  const cells: [string, string][] = [
    ['quotes', `"${'\\"'.repeat(2 * 1024 ** 2 - 100)}"`],
    ['quotes and other characters', `"${'\\"é'.repeat(1024 ** 2 - 100)}"`],
    ['plain text', `"${'x'.repeat(4 * 1024 ** 2 - 200)}"`],
    ['a list of texts', `[${'"a", '.repeat((4 * 1024 ** 2) / 5 - 60)}1]`],
  ];
  for (const [name, cell] of cells) {
    stage.answer = { result: `[{"id": 1, "name": "A", "comment": ${cell}}]` };
    await expectUnblocked(stage, { key, name }, async () => {
      const answer = await stage.post({ key, path: '/api/erp/export', body });
      expect(answer.status, name).toBe(200);
      expect(answer.body.toString('utf8', 0, 30)).toMatch(/^id,name,comment\r\n1,A,"/);
      expect(answer.body.length).toBeGreaterThan(4 * 1024 ** 2 - 500);
    });
  }
});
