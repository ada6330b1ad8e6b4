/** Tests how an export flows: first byte, one page ahead, back-pressure, time limits, and its early end. */
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { answerLikeOdoo } from '../scripted-upstream.ts';
import { createDecoder } from '../take-answer.ts';
import { ENDLESS_MS, expectToStay, pause } from '../time.ts';
import { openExport, printPage, printRecord, readIds, runExport, startTableStage } from './export-stage.ts';

/** If the proxy reads further pages, it does so within this time. */
const LONGER_THAN_PAGE_MS = 1000;

/** A record of about a kilobyte. */
const printLong = (id: number) => `{"id": ${id}, "text": "${'x'.repeat(1000)}"}`;

test('the first records arrive while the second page is read', async () => {
  const { proxy, body, calls } = await startTableStage({
    count: 1000,
    script: async (_socket, { after }) => after > 0 && (await new Promise<never>(() => {})),
  });
  const response = await openExport(proxy, body);
  const [piece] = (await once(response, 'data')) as [Buffer];
  expect(readIds({ text: String(piece) })).toHaveLength(100);
  await expect.poll(() => calls.length).toBe(2);
  response.destroy();
});

test.each(['gzip', 'br', 'zstd'])(
  'the first records arrive as soon, compressed with %s',
  async (encoding) => {
    const { proxy, body } = await startTableStage({
      count: 1000,
      script: async (_socket, { after }) => after > 0 && (await new Promise<never>(() => {})),
    });
    const response = await openExport(proxy, body, { 'accept-encoding': encoding });
    const decoder = createDecoder(encoding);
    response.on('error', () => {});
    response.pipe(decoder);
    let text = '';
    decoder.on('data', (piece) => {
      text += piece;
    });
    await expect.poll(() => readIds({ text }).length).toBe(100);
    response.destroy();
  },
);

test('a caller that does not read keeps at most one page waiting', async () => {
  const { proxy, body, calls } = await startTableStage({ count: 1_000_000, print: printLong });
  const response = await openExport(proxy, body, { 'x-request-timeout': '60' });
  await expect.poll(() => calls.length).toBeGreaterThan(3);
  let before = 0;
  const hasStopped = () => {
    const isSame = calls.length === before;
    before = calls.length;
    return isSame;
  };
  await expect.poll(hasStopped, { interval: LONGER_THAN_PAGE_MS }).toBe(true);
  // Pages have about a megabyte, and the buffers of the sockets hold a few more.
  await expectToStay(() => calls.length < 40, true);
  response.destroy();
});

test('a caller that reads too slowly is cut off', async () => {
  const { proxy, body, upstream } = await startTableStage({
    count: 1_000_000,
    print: printLong,
    settings: { 'http.answerBytesPerSecondMin': '2000000' },
  });
  const response = await openExport(proxy, body, { 'x-request-timeout': '60' });
  response.on('error', () => {});
  const ended = () => proxy.log.filter(({ msg }) => msg === 'export');
  await expect
    .poll(ended)
    .toMatchObject([{ problem: expect.stringMatching(/took less than 2000000 bytes a second/) }]);
  await expect.poll(() => upstream.sockets.size).toBe(0);
  await expect
    .poll(() => proxy.app.databaseLimiters.states()[0])
    .toMatchObject({ running: 0, waiting: 0, backgroundRunning: 0, backgroundWaiting: 0 });
  response.destroy();
});

test('a caller that leaves cancels the page that is read', async () => {
  const { proxy, body, upstream, calls } = await startTableStage({
    count: 1000,
    script: async (_socket, { after }) => after > 0 && (await new Promise<never>(() => {})),
  });
  const response = await openExport(proxy, body);
  response.on('error', () => {});
  await expect.poll(() => calls.length).toBe(2);
  response.destroy();
  await expect.poll(() => upstream.sockets.size).toBe(0);
  await expect
    .poll(() => proxy.app.databaseLimiters.states()[0])
    .toMatchObject({ running: 0, backgroundRunning: 0 });
  const last = proxy.log.filter(({ msg }) => msg === 'call').at(-1);
  expect(last).toMatchObject({ outcome: 'caller_left', via: 'export' });
});

test('the time limit holds for each page, and not for the export', async () => {
  const TIMEOUT_MS = 1000;
  const PAGE_MS = 0.3 * TIMEOUT_MS;
  const { export: run, calls } = await startTableStage({
    count: 600,
    async script(socket, call) {
      await pause(PAGE_MS);
      answerLikeOdoo(socket, printPage(call, 600, printRecord));
      return true;
    },
  });
  const answer = await run({}, { 'x-request-timeout': String(TIMEOUT_MS / 1000) });
  expect(answer.isBroken).toBe(false);
  expect(readIds(answer)).toHaveLength(600);
  // Each page takes PAGE_MS, so the pages together took longer than the time limit.
  expect(calls.length * PAGE_MS).toBeGreaterThan(TIMEOUT_MS);
});

test('a page that takes longer than the time limit is the answer if it is the first one', async () => {
  const { export: run } = await startTableStage({ count: 10, script: () => new Promise<never>(() => {}) });
  const answer = await run({}, { 'x-request-timeout': '1' });
  expect(JSON.parse(answer.text).error.data).toMatchObject({ type: 'upstream_timeout', retryable: true });
});

test('a graceful stop breaks an export off at the end of a page; `after` goes on in another process', async () => {
  const stop = Promise.withResolvers<void>();
  const { proxy, body, calls } = await startTableStage({
    count: 100_000,
    async script(_socket, _call, index) {
      if (index > 1) await stop.promise;
      return false;
    },
    // A stop that waits for the end of the export takes this long.
    settings: { 'http.shutdownGraceMs': String(ENDLESS_MS) },
  });
  const running = runExport(proxy, body);
  await expect.poll(() => calls.length).toBe(3);
  const stopped = proxy.close();
  stop.resolve();
  await stopped;
  const answer = await running;
  expect(answer.isBroken).toBe(true);
  const taken = readIds(answer);
  const next = await startTableStage({ count: taken.length + 500 });
  const rest = await next.export({ after: taken.at(-1) });
  expect([...taken, ...readIds(rest)]).toEqual(
    Array.from({ length: taken.length + 500 }, (_, index) => index + 1),
  );
});
