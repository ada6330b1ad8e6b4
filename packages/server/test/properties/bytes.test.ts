/**
 * Tests that `params`, the values in `keyword` and results pass through the whole path over HTTP byte for byte. On a
 * failure fast-check prints the seed.
 */
import { once } from 'node:events';
import { Agent, createServer, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setImmediate as yieldTurn } from 'node:timers/promises';
import { findHalfSurrogate } from '@erp-proxy/json';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { printedJson } from '../../../json/test/printed-json.ts';
import { type Proxy as RunningProxy, startProxy } from '../harness.ts';
import { countCases } from '../random-cases.ts';
import { makeCall } from '../scripted-upstream.ts';

/** Both connections are kept open, so that thousands of calls take seconds. */
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
let answer: (response: ServerResponse) => Promise<void> | void = () => {};
let received = Buffer.alloc(0);
const upstream = createServer((request, response) => {
  void buffer(request).then((body) => {
    received = body;
    return answer(response);
  });
});
let url: string;
let proxy: RunningProxy;

beforeAll(async () => {
  upstream.listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
  proxy = await startProxy({ allow: [url], settings: { 'log.level': 'warn' } });
});
afterAll(async () => {
  agent.destroy();
  await proxy.close();
  upstream.closeAllConnections();
  upstream.close();
});

const ENVELOPE_START = '{"jsonrpc":"2.0","id":7,"result":';
const INSTANCE = JSON.stringify(makeCall('http://upstream')['erp_instance']);

const space = fc.string({ unit: fc.constantFrom(' ', '\t', '\n', '\r'), maxLength: 3 });
/** A lone surrogate is refused. */
const isWhole = (text: string) =>
  findHalfSurrogate(Buffer.from(text), { start: 0, end: Buffer.byteLength(text) }) === null;
const value = printedJson.map(({ text }) => text).filter(isWhole);
const spaced = fc.tuple(space, value, space).map((parts) => parts.join(''));
/** Names keep their escapes too. The test appends a number, which makes each name unique. */
const name = fc.constantFrom('a', 'é', '\\u0061', '\\/', '😀', ' ', '\\ud83d\\ude00');
const params = fc.oneof(
  fc.array(spaced, { maxLength: 4 }).map((items) => `[${items.join(',')}]`),
  // The maximum depth that Odoo can read.
  fc.integer({ min: 1, max: 500 }).map((depth) => `${'[ '.repeat(depth)}1.0${' ]'.repeat(depth)}`),
);
const keyword = fc
  .array(fc.tuple(space, name, space, spaced), { maxLength: 4 })
  .map((items) => `{${items.map(([a, n, b, v], index) => `${a}"${n}${index}"${b}:${v}`).join(',')}}`);

test('the upstream receives the bytes that the caller sent', async () => {
  answer = (response) => {
    response.end('{"jsonrpc": "2.0", "id": 1, "result": true}');
  };
  await fc.assert(
    fc.asyncProperty(params, keyword, space, space, async (sentParams, sentKeyword, before, after) => {
      const body = await call(
        `{"keyword":${before}${sentKeyword}${after},"params":${after}${sentParams}${before}`,
      );
      expect(body).toBe(`${ENVELOPE_START}true}`);
      expect(received.toString()).toBe(
        `{"jsonrpc":"2.0","method":"call","params":{"service":"object","method":"execute_kw","args":["prod",2,"upstream-key-0123456789","res.partner","any_method",${sentParams},${sentKeyword}]},"id":1}`,
      );
    }),
    { numRuns: countCases(1_500) },
  );
});

test('the caller receives the bytes that the upstream sent, however they were split', async () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 9_000 }), { maxLength: 6 });
  const long = fc.tuple(value, fc.integer({ min: 10_000, max: 70_000 })).map(makeLong);
  await fc.assert(
    fc.asyncProperty(fc.oneof(value, long), sizes, fc.boolean(), async (result, cuts, hasLength) => {
      const text = Buffer.from(`{"jsonrpc": "2.0", "id": 1, "result": ${result}}`);
      answer = async (response) => {
        if (hasLength) response.setHeader('content-length', text.length);
        let at = 0;
        for (const size of cuts) {
          const piece = text.subarray(at, at + size);
          at += piece.length;
          if (piece.length > 0) response.write(piece);
          await yieldTurn();
        }
        response.end(text.subarray(at));
      };
      expect(await call('{"params":[]')).toBe(`${ENVELOPE_START}${result}}`);
    }),
    { numRuns: countCases(1_500) },
  );
});

test('an envelope with any order and white space gives the same bytes', async () => {
  const members = fc.tuple(
    fc.constantFrom('"jsonrpc"', '"jsonrp\\u0063"').map((text) => [text, '"2.0"']),
    fc.constantFrom('1', '"x"', 'null', '1.0').map((text) => ['"id"', text]),
    value.map((text) => ['"result"', text]),
    fc.constantFrom(['"error"', 'null'], ['"more"', '{"result": 1}'], ['"Result"', '2']),
  );
  await fc.assert(
    fc.asyncProperty(
      members.chain((all) =>
        fc.tuple(fc.constant(all[2]![1]!), fc.shuffledSubarray(all, { minLength: 4, maxLength: 4 })),
      ),
      fc.array(space, { minLength: 18, maxLength: 18 }),
      async ([result, order], spaces) => {
        const spaceAt = (index: number) => spaces[index] as string;
        const printed = order.map(
          ([memberName, text], i) =>
            `${spaceAt(4 * i)}${memberName}${spaceAt(4 * i + 1)}:${spaceAt(4 * i + 2)}${text}${spaceAt(4 * i + 3)}`,
        );
        answer = (response) => {
          response.end(`${spaceAt(16)}{${printed.join(',')}}${spaceAt(17)}`);
        };
        expect(await call('{"params":[]')).toBe(`${ENVELOPE_START}${result}}`);
      },
    ),
    { numRuns: countCases(1_000) },
  );
});

/** `start` is the body of a call up to the members that are the same for all calls. */
async function call(start: string): Promise<string> {
  const instance = INSTANCE.replace('http://upstream', url);
  const text = `${start},"id":7,"action":"any_method","model_id":"res.partner","erp_instance":${instance}}`;
  return new Promise((resolve, reject) => {
    const sent = request(`${proxy.url}/api/erp/execute`, {
      agent,
      method: 'POST',
      headers: {
        'x-proxy-api': proxy.key,
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(text),
      },
    });
    sent.on('error', reject);
    sent.on('response', (response) => {
      buffer(response).then((body) => resolve(body.toString()), reject);
    });
    sent.end(text);
  });
}

function makeLong([text, length]: [string, number]): string {
  return `[${text}, "${'long '.repeat(length / 5)}", ${text}]`;
}
