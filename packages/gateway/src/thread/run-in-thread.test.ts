import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { SharedCollector } from '@erp-proxy/async/shared-bytes';
import { compilePolicy } from '@erp-proxy/policy';
import { expect, test, vi } from 'vitest';
import { blockThread } from '../../../async/test/block-thread.ts';
import { closeAfterTest } from '../../../server/test/close-after-test.ts';
import { MOMENT_MS } from '../../../server/test/time.ts';
import { Denial } from '../terms/denial.ts';
import { OWN_DIALECT } from '../terms/dialect.ts';
import type { Body } from '../terms/parsed-body.ts';
import { runInThread, TaskAborted } from './run-in-thread.ts';

const ALWAYS = new AbortController().signal;
const MIB = 1024 ** 2;
/** Part of util-linux, which Debian always has. */
const canLimit = spawnSync('prlimit', ['--version']).status === 0;

function makeBody(text: string): Buffer {
  const collector = new SharedCollector(text.length + MIB);
  collector.add(Buffer.from(text));
  return collector.join();
}

const CALL = (values: string) =>
  `{"id":"\\u00e9","action":"create","model_id":"res.partner","params":[${values}],"keyword":{"limit":5},"erp_instance":{"name":"prod"}}`;
const ROWS = `[${'{"name":"x"},'.repeat(20_000)}{"name":"y"}]`;

test('a call keeps its bytes through the thread', async () => {
  const bytes = makeBody(CALL(ROWS));
  const body = (await runInThread('parseBody', [bytes], bytes.length, ALWAYS)) as Body;
  expect(body.bytes.buffer).toBe(bytes.buffer);
  const span = body.calls[0]!;
  const { id, call } = await runInThread('parseCall', [body.bytes, span, OWN_DIALECT], bytes.length, ALWAYS);
  expect(Buffer.from(id).toString()).toBe('"\\u00e9"');
  if (call instanceof Denial) throw new Error(call.message);
  expect(call).toMatchObject({ method: 'create', model: 'res.partner', limit: 5 });
  const { start, end } = call.params!;
  expect(Buffer.from(call.bytes.subarray(start, end)).toString()).toBe(`[${ROWS}]`);
});

test('a denial of the thread is one', async () => {
  const bytes = makeBody('[1,');
  expect(await runInThread('parseBody', [bytes], bytes.length, ALWAYS)).toStrictEqual(
    new Denial(
      'parse_error',
      'The body is not valid JSON at byte 3: the text ends where a value is expected.',
    ),
  );
});

test('a compiled policy applies in the thread', async () => {
  const bytes = makeBody(CALL(ROWS));
  const span = { span: { kind: 'object' as const, start: 0, end: bytes.length }, members: null };
  const { call } = await runInThread('parseCall', [bytes, span, OWN_DIALECT], bytes.length, ALWAYS);
  if (call instanceof Denial) throw new Error(call.message);
  const authorize = (methods: string[]) => {
    const policy = compilePolicy({ instances: ['*'], models: { 'res.partner': methods } });
    return runInThread('authorizeCall', [call, { policy }, 'sent'], bytes.length, ALWAYS);
  };
  expect(await authorize(['create'])).toMatchObject({ method: 'create' });
  expect(await authorize(['read'])).toMatchObject({ type: 'policy_denied' });
});

test('bytes that are not shared are copied, and those that the thread makes arrive', async () => {
  const keyword = Buffer.from(`{"text":"${'x'.repeat(100_000)}"}`);
  const call = {
    db: 'd',
    userId: 2,
    apiKey: 'k',
    model: 'm',
    method: 'f',
    params: Buffer.from('[]'),
    keyword,
  };
  const sent = Buffer.from(await runInThread('buildExecuteKw', [call], keyword.length, ALWAYS));
  expect(sent.subarray(-keyword.length - 10, -10).toString()).toBe(keyword.toString());
});

test.runIf(canLimit)('tasks run here if no thread can be started', () => {
  const program = fileURLToPath(
    new URL('../../../server/test/large-bodies/run-without-thread.ts', import.meta.url),
  );
  const { stdout, stderr } = spawnSync(process.execPath, [program], { encoding: 'utf8' });
  expect({ stdout, stderr }).toEqual({ stdout: 'parsed,parse_error,parsed', stderr: '' });
});

test('a task ends when its signal is aborted, running or waiting, and the next one runs', async () => {
  const bytes = makeBody(`[${'1,'.repeat(4 * MIB)}1]`);
  const leaving = new AbortController();
  const tasks = [bytes, bytes, bytes].map((body) =>
    runInThread('parseBody', [body], body.length, leaving.signal),
  );
  // The thread begins meanwhile, and its reply cannot arrive before the abort.
  blockThread(MOMENT_MS);
  leaving.abort();
  for (const task of tasks) await expect(task).rejects.toThrow(TaskAborted);
  await expect(runInThread('parseBody', [bytes], 1, leaving.signal)).rejects.toThrow(TaskAborted);
  expect(await runInThread('parseBody', [makeBody('[]')], 2, ALWAYS)).toBeInstanceOf(Denial);
});

test('a small task overtakes large ones that wait', async () => {
  // A task that has waited for a second is not overtaken.
  vi.useFakeTimers({ toFake: ['performance'] });
  closeAfterTest({ close: () => vi.useRealTimers() });
  const large = makeBody(`[${'1,'.repeat(MIB / 2)}1]`);
  const ended: string[] = [];
  const run = (name: string, body: Buffer) =>
    runInThread('parseBody', [body], body.length, ALWAYS).then(() => ended.push(name));
  await Promise.all([run('first', large), run('second', large), run('small', makeBody('[]'))]);
  expect(ended).toEqual(['first', 'small', 'second']);
});

test('an exception in the thread rejects its task alone', async () => {
  const broken = runInThread('parseCall', [Buffer.from('{}'), null as never, OWN_DIALECT], 2, ALWAYS);
  await expect(broken).rejects.toThrow(TypeError);
  expect(await runInThread('parseBody', [makeBody('[]')], 2, ALWAYS)).toBeInstanceOf(Denial);
});
