/** Jobs in the admin API and in the commands `jobs …`: shown and cancelled by operators. */
import { describe, expect, test } from 'vitest';
import { runCommandLine } from '../../src/cli/run.ts';
import { recordSurroundings } from '../../src/cli/surroundings.fixture.ts';
import { readTextFile } from '../../src/config/read-text-file.ts';
import { closeAfterTest } from '../close-after-test.ts';
import { startProxy } from '../harness.ts';
import { makeFolder } from '../process/program.ts';
import { answerLikeOdoo, makeCall, printResult, startUpstream } from '../scripted-upstream.ts';
import { TEST_ACTOR } from '../test-actor.ts';
import { QUICK_TIMES, readJob, startJob, waitForEnd } from './job-stage.ts';

const TOKEN = 'an-admin-token-of-more-than-32-characters';
const SECRET_PARAMETER = 'a value of the call';

/** Odoo answers `search_count` when `answer` is called. */
async function startStage(storeUrl = 'memory:') {
  const slow = Promise.withResolvers<void>();
  const upstream = closeAfterTest(
    await startUpstream(async (socket, { body }) => {
      if (body.includes('"search_count"')) await slow.promise;
      answerLikeOdoo(socket, printResult('[{"id": 1}]'));
    }),
  );
  const proxy = closeAfterTest(
    await startProxy({
      jobTimes: { ...QUICK_TIMES, leaseMs: 600 },
      settings: { 'store.url': storeUrl, 'admin.token': TOKEN, 'egress.allow': upstream.url },
    }),
  );
  const call = (action: string) => makeCall(upstream.url, { action, params: [[1], SECRET_PARAMETER] });
  return {
    proxy,
    admin: proxy.app.adminFor(TEST_ACTOR),
    answer: slow.resolve,
    start: async (action = 'read') => (await startJob(proxy, call(action))).split('/').at(-1)!,
  };
}

const pathOf = (id: string) => `/api/erp/jobs/${id}`;

test('lists jobs, newest first, by state and client, without arguments and results', async () => {
  const { proxy, admin, start, answer } = await startStage();
  const first = await start();
  await waitForEnd(proxy, pathOf(first));
  const second = await start('search_count');
  await expect.poll(async () => (await admin.getClientJob(second)).state).toBe('running');
  const { items, next } = await admin.listClientJobs({});
  expect([items.map(({ id }) => id), next]).toEqual([[second, first], null]);
  const [key] = (await admin.listKeys({})).items;
  expect(items[1]).toEqual({
    id: first,
    state: 'done',
    client_id: key!.client_id,
    key_id: key!.id,
    request_id: expect.any(String),
    route: 'execute',
    instance: null,
    model: 'res.partner',
    action: 'read',
    created_at: expect.stringMatching(/^20.*Z$/),
    started_at: expect.stringMatching(/^20.*Z$/),
    ended_at: expect.stringMatching(/^20.*Z$/),
    cancel_requested: false,
    records: null,
    bytes: expect.any(Number),
    status: 200,
  });
  const page = await admin.listClientJobs({ limit: 1 });
  expect((await admin.listClientJobs({ limit: 1, cursor: page.next! })).items.map(({ id }) => id)).toEqual([
    first,
  ]);
  const listIds = async (query: object) => (await admin.listClientJobs(query)).items.map(({ id }) => id);
  expect(await listIds({ state: 'running' })).toEqual([second]);
  expect(await listIds({ client_id: key!.client_id })).toEqual([second, first]);
  expect(await listIds({ client_id: 'another' })).toEqual([]);
  expect(JSON.stringify(await admin.listClientJobs({}))).not.toMatch(/a value of the call|ep_/);
  answer();
});

test('cancels a job that runs, and records who did', async () => {
  const { proxy, admin, start } = await startStage();
  const id = await start('search_count');
  await expect.poll(async () => (await admin.getClientJob(id)).state).toBe('running');
  expect(await admin.cancelClientJob(id)).toMatchObject({ id, cancel_requested: true });
  await admin.cancelClientJob(id);
  expect((await waitForEnd(proxy, pathOf(id))).state).toBe('cancelled');
  await proxy.app.audit.flush();
  const { items } = await admin.listAudit({ action: 'job.cancel' });
  expect(items).toMatchObject([
    {
      target: `job ${id}`,
      actor: { id: TEST_ACTOR.id },
      changes: { cancel_requested: { from: false, to: true } },
    },
  ]);
});

test('a job that has ended stays as it is, and an unknown one is 404', async () => {
  const { proxy, admin, start } = await startStage();
  const id = await start();
  await waitForEnd(proxy, pathOf(id));
  expect(await admin.cancelClientJob(id)).toMatchObject({ state: 'done', cancel_requested: false });
  expect((await readJob(proxy, pathOf(id))).state).toBe('done');
  for (const ask of [admin.getClientJob, admin.cancelClientJob])
    await expect(ask('nothing')).rejects.toMatchObject({
      problem: { status: 404, detail: 'There is no job "nothing".' },
    });
});

describe.each(['on the store', 'on a running proxy'] as const)('the commands %s:', (where) => {
  test('list, show and cancel', async () => {
    const storeUrl = where === 'on the store' ? `sqlite:${makeFolder()}/store.db` : 'memory:';
    const { proxy, start, answer } = await startStage(storeUrl);
    const run = async (...args: string[]) => {
      const surroundings = recordSurroundings({ isTerminal: true });
      const status = await runCommandLine(
        {
          argv: ['jobs', ...args, ...(where === 'on the store' ? [] : ['--url', proxy.url])],
          env: { ERP_PROXY_STORE_URL: storeUrl, ERP_PROXY_ADMIN_TOKEN: TOKEN },
          cwd: '/',
          readFile: readTextFile,
          version: '1.2.3',
        },
        surroundings,
      );
      return { status, stdout: surroundings.stdout, stderr: surroundings.stderr.replace(/^Store: .*\n/, '') };
    };
    expect(await run('list')).toEqual({ status: 0, stdout: '', stderr: 'No job matches.\n' });
    const done = await start();
    await waitForEnd(proxy, pathOf(done));
    const slow = await start('search_count');
    expect((await run('list', '--state', 'done')).stdout).toMatch(
      new RegExp(`^ID .*\\n${done} +done +execute +res\\.partner\\.read `),
    );
    expect((await run('show', done)).stdout).toMatch(/^state +done$/m);
    expect((await run('cancel', done)).stdout).toBe(`${done} has ended: it is done.\n`);
    const cancelled = await run('cancel', slow);
    expect(cancelled.stdout).toMatch(new RegExp(`^${slow} (is being cancelled|has ended: it is cancelled)`));
    expect(JSON.parse((await run('show', slow, '--json')).stdout)).toMatchObject({ cancel_requested: true });
    expect(await run('show', 'nothing')).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/There is no job "nothing"/),
    });
    answer();
  });
});
