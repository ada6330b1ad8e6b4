/**
 * docs/execute.md#batches: the answer to a batch is an array in the order of its calls, each with its own result or
 * error.
 */
import { describe, expect, test } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import { type Pair, startPair } from '../pair.ts';
import { readInFlight } from '../read-in-flight.ts';
import {
  answerLikeOdoo,
  answerTrue,
  printResult,
  resetAfterReading,
  type Script,
} from '../scripted-upstream.ts';
import { passTurns, pause } from '../time.ts';
import { describeErrorAnswer, expectError, printCall, printInstance, waitFor } from './expectations.ts';

let pair: Pair;

const printBatch = (count: number, changes: (index: number) => Record<string, string | null> = () => ({})) =>
  `[${Array.from({ length: count }, (_, index) =>
    printCall(pair.upstream.url, { id: String(index), params: `[[${index}]]`, ...changes(index) }),
  ).join(',')}]`;

const readFirstId = (body: Buffer) => JSON.parse(body.toString()).params.args[5][0][0] as number;

/** Disables the wait for the outcome of the first call with new credentials. */
const TWO_AT_ONCE = { 'batch.concurrency': '2', 'upstream.refusedCredentialsTtlMs': '0' };

/** The time between answers that are given in another order than their calls. */
const STEP_MS = 2;

/** Answers with the first id of the call; earlier calls get later answers. */
const answerBackwards: Script = async (socket, { body }) => {
  const id = readFirstId(body);
  await pause((20 - (id % 20)) * STEP_MS);
  answerLikeOdoo(socket, printResult(`${id}.0`));
};

test('answers in the order of the calls, whatever the order of the results', async () => {
  pair = closeAfterTest(await startPair(answerBackwards));
  const answer = await pair.proxy.post(printBatch(40));
  expect(answer.status).toBe(200);
  expect(answer.headers['content-type']).toBe('application/json');
  expect(answer.body.toString()).toBe(
    `[${Array.from({ length: 40 }, (_, index) => `{"jsonrpc":"2.0","id":${index},"result":${index}.0}`).join(',')}]`,
  );
});

test('runs several calls at once, and never more than batch.concurrency', async () => {
  let open = 0;
  let most = 0;
  const areThree = Promise.withResolvers<void>();
  pair = closeAfterTest(
    await startPair(
      async (socket, _request, index) => {
        open++;
        most = Math.max(most, open);
        if (open === 3) areThree.resolve();
        // The first call is sent alone, to try the credentials.
        if (index > 0) await areThree.promise;
        await pause();
        open--;
        answerLikeOdoo(socket, printResult('true'));
      },
      { settings: { 'batch.concurrency': '3' } },
    ),
  );
  const { json } = await pair.proxy.call(printBatch(20));
  expect(json).toHaveLength(20);
  expect(most).toBe(3);
});

describe('size', () => {
  test('may be 1 and 100', async () => {
    pair = closeAfterTest(await startPair());
    expect((await pair.proxy.call(printBatch(1))).json).toEqual([{ jsonrpc: '2.0', id: 0, result: true }]);
    const { json } = await pair.proxy.call(printBatch(100));
    expect(json.map((answer: { id: number }) => answer.id)).toEqual(Array.from({ length: 100 }, (_, i) => i));
    expect(pair.upstream.requests).toHaveLength(101);
  });

  test('must not be 101, and nothing is sent', async () => {
    pair = closeAfterTest(await startPair());
    const answer = await pair.proxy.post(printBatch(101));
    expectError(answer, { status: 400, code: -32600, type: 'invalid_request', says: /at most 100 calls/ });
    expect(pair.upstream.connections()).toBe(0);
  });

  test.each(['[]', ' [ \n] '])('must not be 0: %j', async (body) => {
    pair = closeAfterTest(await startPair());
    expectError(await pair.proxy.post(body), {
      status: 400,
      code: -32600,
      type: 'invalid_request',
      says: /empty/,
    });
  });
});

test('lets each invalid call fail alone', async () => {
  pair = closeAfterTest(await startPair(answerTrue));
  const bad: (string | Record<string, string | null>)[] = [
    '1',
    'null',
    '[]',
    `[${printCall(pair.upstream.url)}]`,
    { id: '"a"', model_id: null },
    { id: '1.5' },
    { id: '2', action: '"_private"' },
    { id: '3', action: '"call_method"' },
    { id: '4', keyword: '{"limit":-1}' },
    { id: '5', action: '"unlink"', params: '[[1,2]]', keyword: '{"limit":1}' },
    { id: '6', erp_instance: printInstance('https://127.0.0.1') },
    { id: '7', kwargs: '{}' },
  ];
  const good = printCall(pair.upstream.url, { id: '"good"' });
  const texts = bad.map((call) => (typeof call === 'string' ? call : printCall(pair.upstream.url, call)));
  const answer = await pair.proxy.call(`[${texts.flatMap((text) => [text, good]).join(',')}]`);
  const invalid = { code: -32600, type: 'invalid_request' } as const;
  const errors = [
    { ...invalid, says: /must be an object, not a number/ },
    { ...invalid, says: /must be an object, not null/ },
    { ...invalid, says: /must be an object, not an array/ },
    { ...invalid, says: /must be an object, not an array/ },
    { ...invalid, id: 'a', path: 'model_id', says: /missing/ },
    { ...invalid, path: 'id', says: /integer/ },
    { code: -32001, type: 'action_invalid', id: 2, path: 'action', says: /public/ },
    { code: -32002, type: 'fn_name_missing', id: 3, path: 'fn_name', says: /needs/ },
    { code: -32602, type: 'invalid_params', id: 4, path: 'keyword.limit', says: /non-negative/ },
    { code: -32602, type: 'invalid_params', id: 5, path: 'keyword.limit', says: /more ids/ },
    { code: -32011, type: 'egress_denied', id: 6, path: 'erp_instance.url', says: /operator/ },
    { ...invalid, id: 7, path: 'kwargs', says: /Did you mean/ },
  ].map(describeErrorAnswer);
  const fine = { jsonrpc: '2.0', id: 'good', result: true };
  expect(answer.json).toEqual(errors.flatMap((error) => [error, fine]));
  expect(answer.status).toBe(200);
  expect(pair.upstream.requests).toHaveLength(bad.length);
});

test('refuses the whole body if it is not JSON, and sends nothing', async () => {
  pair = closeAfterTest(await startPair());
  const answer = await pair.proxy.post(`[${printCall(pair.upstream.url)},{]`);
  expectError(answer, { status: 400, code: -32700, type: 'parse_error', says: /not valid JSON/ });
  expect(pair.upstream.connections()).toBe(0);
});

test('answers each call that ran out of time, and those that were not sent', async () => {
  pair = closeAfterTest(await startPair(() => {}, { settings: TWO_AT_ONCE }));
  const answer = await pair.proxy.call(
    printBatch(4, (index) => (index === 1 ? { action: '"write"' } : {})),
    { 'x-request-timeout': '1' },
  );
  expect(answer.status).toBe(200);
  const timeout = { code: -32003, type: 'upstream_timeout', says: /in time/ };
  const unsent = {
    code: -32013,
    type: 'overloaded',
    retryable: true,
    outcome: 'not_sent',
    says: /^The time limit of the call passed|to end within its time limit/,
  } as const;
  expect(answer.json).toEqual([
    describeErrorAnswer({ ...timeout, id: 0, retryable: true, outcome: 'unknown' }),
    describeErrorAnswer({ ...timeout, id: 1, outcome: 'unknown' }),
    describeErrorAnswer({ ...unsent, id: 2 }),
    describeErrorAnswer({ ...unsent, id: 3 }),
  ]);
  expect(pair.upstream.requests).toHaveLength(2);
});

/** A truncated result: 100,000 bytes announced, some sent, then a reset. */
const breakOff: Script = (socket) => {
  socket.write(
    `HTTP/1.0 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n${printResult(`"${'x'.repeat(30_000)}`)}`,
  );
  return resetAfterReading(socket);
};

describe('a result that is cut off', () => {
  test('becomes an error of its call if the position of the call has not been reached', async () => {
    let isCut = false;
    pair = closeAfterTest(
      await startPair(
        async (socket, request, index) => {
          const id = readFirstId(request.body);
          if (id === 1) {
            socket.on('close', () => {
              isCut = true;
            });
            return breakOff(socket, request, index);
          }
          await waitFor(() => isCut);
          // The pause lets the proxy notice the reset.
          await passTurns(10);
          answerLikeOdoo(socket, printResult(String(id)));
        },
        { settings: { 'upstream.refusedCredentialsTtlMs': '0' } },
      ),
    );
    const { json } = await pair.proxy.call(printBatch(3));
    expect(json).toEqual([
      { jsonrpc: '2.0', id: 0, result: 0 },
      describeErrorAnswer({
        code: -32004,
        type: 'upstream_unreachable',
        id: 1,
        retryable: true,
        outcome: 'unknown',
        says: /broke its answer off/,
      }),
      { jsonrpc: '2.0', id: 2, result: 2 },
    ]);
  });

  test('breaks the connection if the position of the call has been reached', async () => {
    pair = closeAfterTest(
      await startPair((socket, request, index) => {
        const id = readFirstId(request.body);
        if (id === 1) return breakOff(socket, request, index);
        answerLikeOdoo(socket, printResult(String(id)));
      }),
    );
    await expect(pair.proxy.post(printBatch(3))).rejects.toThrow();
    const outcomes = await waitFor(() => {
      const lines = pair.proxy.log.filter((line) => line['msg'] === 'call');
      return lines.length === 3 && lines.map((line) => line['outcome']);
    });
    expect(outcomes).toContain('broken_off');
    expect(await waitFor(async () => pair.upstream.sockets.size === 0)).toBe(true);
  });
});

/** Disables the wait for the outcome of the first call with new credentials. */
const AT_ONCE = { settings: { 'upstream.refusedCredentialsTtlMs': '0' } };
/** Waits until other calls of the batch are answered, and the proxy has read as much of the answers as it accepts. */
async function othersAnswered(count: number): Promise<void> {
  await waitFor(() => pair.upstream.requests.length > count);
  await pause();
  await passTurns(10);
}

test('ends, and leaves nothing running, if large answers wait behind one that is cut off', async () => {
  pair = closeAfterTest(
    await startPair(async (socket, request, index) => {
      if (readFirstId(request.body) === 0) {
        await othersAnswered(7);
        return breakOff(socket, request, index);
      }
      answerLikeOdoo(socket, printResult(`"${'y'.repeat(1_000_000)}"`));
    }, AT_ONCE),
  );
  await expect(pair.proxy.post(printBatch(12))).rejects.toThrow();
  await waitFor(() => pair.proxy.log.filter((line) => line['msg'] === 'call').length === 12);
  await waitFor(() => pair.upstream.sockets.size === 0);
  expect(await readInFlight(pair.proxy.url)).toBe(0);
});

/** An answer whose order of members forces the proxy to read it whole before sending it. */
const printReadWhole = (result: string) => `{"result": ${result}, "jsonrpc": "2.0", "id": 1}`;

test('ends, and can be stopped, if large answers that are read whole wait for a position that is never reached', async () => {
  pair = closeAfterTest(
    await startPair(async (socket, request, index) => {
      if (readFirstId(request.body) === 0) {
        await othersAnswered(2);
        return breakOff(socket, request, index);
      }
      answerLikeOdoo(socket, printReadWhole(`"${'y'.repeat(600_000)}"`));
    }, AT_ONCE),
  );
  await expect(pair.proxy.post(printBatch(3))).rejects.toThrow();
  await waitFor(async () => (await readInFlight(pair.proxy.url)) === 0);
});

test('passes large results on in order, within the bound on buffered bytes', async () => {
  const large = `"${'y'.repeat(1_000_000)}"`;
  pair = closeAfterTest(
    await startPair(async (socket, { body }) => {
      if (readFirstId(body) === 0) await othersAnswered(7);
      answerLikeOdoo(socket, printResult(large));
    }, AT_ONCE),
  );
  const answer = await pair.proxy.post(printBatch(10));
  expect(answer.body.toString()).toBe(
    `[${Array.from({ length: 10 }, (_, index) => `{"jsonrpc":"2.0","id":${index},"result":${large}}`).join(',')}]`,
  );
});

test('is cancelled if its caller disconnects: running calls are aborted, waiting ones are not sent', async () => {
  pair = closeAfterTest(await startPair(() => {}, { settings: TWO_AT_ONCE }));
  const controller = new AbortController();
  const request = fetch(`${pair.proxy.url}/api/erp/execute`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-proxy-api': pair.proxy.key },
    body: printBatch(10),
    signal: controller.signal,
  });
  const reading = request.then((response) => response.text());
  reading.catch(() => {});
  await waitFor(() => pair.upstream.requests.length === 2);
  controller.abort();
  await expect(reading).rejects.toThrow();
  await waitFor(() => pair.upstream.sockets.size === 0);
  await waitFor(() => pair.proxy.log.filter((line) => line['msg'] === 'call').length === 10);
  expect(pair.upstream.connections()).toBe(2);
  expect(new Set(pair.proxy.log.map((line) => line['outcome']))).toEqual(new Set(['caller_left']));
});
