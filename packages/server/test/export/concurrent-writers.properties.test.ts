/**
 * Tests that an export gives each record that exists and matches throughout exactly once, in the order of ids, while
 * records are made, changed, archived and removed between its pages. On a failure fast-check prints the seed.
 */

import { connect } from 'node:net';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import { countCases } from '../random-cases.ts';
import { startUpstream } from '../scripted-upstream.ts';
import { readIds, startSandboxStage } from './export-stage.ts';

const change = fc.oneof(
  fc.record({ kind: fc.constant('create' as const), isActive: fc.boolean() }),
  fc.record({ kind: fc.constant('write' as const), at: fc.nat() }),
  fc.record({ kind: fc.constant('leave' as const), at: fc.nat() }),
  fc.record({ kind: fc.constant('archive' as const), at: fc.nat() }),
  fc.record({ kind: fc.constant('remove' as const), at: fc.nat() }),
);
type Change = typeof change extends fc.Arbitrary<infer One> ? One : never;

const example = fc.record({
  count: fc.integer({ min: 1, max: 30 }),
  pageSize: fc.integer({ min: 1, max: 7 }),
  /** The changes before each page. */
  changes: fc.array(fc.array(change, { maxLength: 4 }), { maxLength: 20 }),
  isArchivedWanted: fc.boolean(),
});

test('no record that exists throughout is missed or given twice, whatever others write', async () => {
  const stage = await startSandboxStage();
  const { proxy, sandbox } = stage;
  // Requests for pages go through a server that runs the changes before each request.
  let beforePage: () => Promise<void> = async () => {};
  const upstream = closeAfterTest(
    await startUpstream(async (socket, { head, body }) => {
      await beforePage();
      const odoo = connect(Number(new URL(sandbox.url).port), '127.0.0.1');
      odoo.write(`${head}\r\n\r\n`);
      odoo.write(body);
      odoo.pipe(socket);
    }),
  );
  const { userId: user_id, apiKey: api_key } = sandbox.users.admin;
  const added = { name: 'watched', url: upstream.url, db: sandbox.db, user_id, api_key, allow_private: true };
  await proxy.app.instances.add(added);
  const write = async (action: string, params: unknown[]) =>
    (
      await proxy.call({
        action,
        model_id: 'res.partner',
        params,
        erp_instance: { name: 'prod' },
      })
    ).json.result;
  await fc.assert(
    fc.asyncProperty(example, async ({ count, pageSize, changes, isArchivedWanted }) => {
      sandbox.reset();
      const rows = Array.from({ length: count }, (_, index) => ({ name: `P${index}`, email: 'export' }));
      const alive = new Set<number>(await write('create', [rows]));
      const throughout = new Set(alive);
      const apply = async (one: Change) => {
        if (one.kind === 'create') {
          alive.add(await write('create', [{ name: 'New', email: 'export', active: one.isActive }]));
          return;
        }
        const id = [...alive][one.at % alive.size];
        if (id === undefined) return;
        if (one.kind === 'write') await write('write', [[id], { name: 'Changed' }]);
        else {
          if (one.kind !== 'archive' || !isArchivedWanted) throughout.delete(id);
          if (one.kind === 'leave') await write('write', [[id], { email: 'other' }]);
          if (one.kind === 'archive') await write('write', [[id], { active: false }]);
          if (one.kind === 'remove') {
            alive.delete(id);
            await write('unlink', [[id]]);
          }
        }
      };
      let page = 0;
      beforePage = async () => {
        for (const one of changes[page++] ?? []) await apply(one);
      };
      const { key } = await proxy.app.keys.create({
        name: 'pages',
        policy: {
          instances: ['watched'],
          models: { 'res.partner': ['search_read'] },
          data: ['export'],
          limit_max: pageSize,
        },
      });
      const answer = await stage.export(
        {
          erp_instance: { name: 'watched' },
          domain: [['email', '=', 'export']],
          fields: ['name'],
          ...(isArchivedWanted ? { context: { active_test: false } } : {}),
        },
        { 'x-proxy-api': key },
      );
      expect(answer.isBroken).toBe(false);
      const ids = readIds(answer);
      expect(ids).toEqual([...new Set(ids)].sort((one, other) => one - other));
      expect(ids).toEqual(expect.arrayContaining([...throughout]));
    }),
    { numRuns: countCases(40) },
  );
});
