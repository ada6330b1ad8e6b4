/** Tests that a collector that is away, slow or refuses has no effect on calls. */
import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import { printCall } from '../execute/expectations.ts';
import { listenOnFreePort } from '../listen.ts';
import { startPair } from '../pair.ts';
import { startCollector } from './collector.ts';

const ENDPOINT = 'otel.endpoint';
const TIMEOUT = 'otel.timeoutMs';
/** Time limit for exports that must succeed, or be refused, even on a busy machine. */
const MINUTE_MS = '60000';
/** More calls than the number of spans that can wait for an export. */
const CALLS = 700;
/** Enough calls for an immediate export. */
const FEW = 100;

async function callOften(settings: Record<string, string>, calls = CALLS) {
  const pair = closeAfterTest(await startPair(undefined, { settings: { [TIMEOUT]: '300', ...settings } }));
  const batch = `[${Array.from({ length: 100 }, (_, id) => printCall(pair.upstream.url, { id: String(id) })).join(',')}]`;
  for (let sent = 0; sent < calls; sent += 100) {
    const { status, json } = await pair.proxy.call(batch);
    expect(status).toBe(200);
    expect(json.every((answer: { result?: unknown }) => answer.result === true)).toBe(true);
  }
  const listLines = () => pair.proxy.log.filter(({ msg }) => String(msg).startsWith('traces '));
  return { pair, listLines };
}

test('a collector that is away is reported once, and calls run', async () => {
  const server = createServer();
  const port = await listenOnFreePort(server);
  await new Promise((resolve) => server.close(resolve));
  const { listLines } = await callOften({ [ENDPOINT]: `http://127.0.0.1:${port}` }, FEW);
  await expect.poll(listLines).toHaveLength(1);
  expect(listLines()[0]).toMatchObject({ level: 'warn', reason: expect.stringContaining('refused') });
});

test('a collector that never answers is reported once, and the stop does not wait for it', async () => {
  const collector = closeAfterTest(await startCollector(() => {}));
  const { pair, listLines } = await callOften({ [ENDPOINT]: collector.url });
  await expect.poll(listLines).toHaveLength(1);
  await pair.proxy.close();
  expect(listLines()).toHaveLength(1);
});

test('a collector that refuses is reported once, and once when it accepts again', async () => {
  let isOpen = false;
  const collector = closeAfterTest(
    await startCollector((response) => response.writeHead(isOpen ? 200 : 400).end()),
  );
  const { pair, listLines } = await callOften({ [ENDPOINT]: collector.url, [TIMEOUT]: MINUTE_MS }, FEW);
  await expect.poll(listLines).toHaveLength(1);
  expect(listLines()[0]).toMatchObject({ reason: 'the collector answered 400' });
  isOpen = true;
  await callAgain();
  await expect.poll(() => listLines().length).toBe(2);
  expect(listLines()[1]).toMatchObject({
    level: 'info',
    msg: 'traces exported again',
    lost: expect.any(Number),
  });

  async function callAgain(): Promise<void> {
    const batch = `[${Array.from({ length: 100 }, (_, id) => printCall(pair.upstream.url, { id: String(id) })).join(',')}]`;
    await pair.proxy.call(batch);
  }
});

test('spans that a collector has no time for are sent again', async () => {
  const collector = closeAfterTest(
    await startCollector((response, index) => response.writeHead(index === 0 ? 503 : 200).end()),
  );
  const { listLines } = await callOften({ [ENDPOINT]: collector.url, [TIMEOUT]: MINUTE_MS }, FEW);
  await expect.poll(() => collector.requests.length).toBeGreaterThan(1);
  expect(collector.requests[1]?.body.equals(collector.requests[0]!.body)).toBe(true);
  expect(listLines()).toEqual([]);
});
