/**
 * The sandbox is held to the recordings of real servers: each recorded request is replayed over real HTTP and
 * the answer must have the recorded status, headers, envelope, error and shape of result.
 */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Sandbox, startSandbox, type Version } from '../src/index.ts';
import { readJson } from '../src/json/read-json.ts';
import { isObject, type Json } from '../src/json/value.ts';
import { type Answer, exchange, type RecordedRequest } from './exchange.ts';
import { prepareRequest } from './prepare-request.ts';
import { findShapeDifference } from './same-shape.ts';

interface Recording {
  readonly name: string;
  readonly request: RecordedRequest;
  readonly response: Answer;
}

/** What is not replayed, and why. */
const left: readonly (readonly [RegExp, string])[] = [
  [
    /^threaded-/,
    'the threaded server (workers = 0) is no production set-up; the sandbox plays the prefork one',
  ],
  [/^session-authenticate$/, 'a session of the web client: the proxy has none'],
  [/^xmlrpc-/, 'XML-RPC: the proxy does not speak it'],
];

const versions: readonly Version[] = [16, 17, 18, 19];

for (const version of versions) {
  describe(`Odoo ${version}`, () => {
    let sandbox: Sandbox;
    beforeAll(async () => {
      sandbox = await startSandbox({ version });
    });
    afterAll(() => sandbox.close());

    for (const recording of readRecordings(version)) {
      const reason = left.find(([pattern]) => pattern.test(recording.name))?.[1];
      test.skipIf(reason)(
        `answers ${recording.name} as recorded${reason ? ` (not replayed: ${reason})` : ''}`,
        async () => {
          sandbox.reset();
          const request = await prepareRequest(sandbox, recording);
          const answer = await exchange(sandbox.url, request);
          expect(describeHead(answer)).toEqual(describeHead(recording.response));
          expect(Buffer.byteLength(answer.body)).toBe(request.method === 'HEAD' ? 0 : readLength(answer));
          expectSameBody(answer.body, recording.response.body);
        },
      );
    }
  });
}

function readRecordings(version: Version): Recording[] {
  return ['jsonrpc', 'web'].flatMap((part) =>
    readFileSync(new URL(`../recordings/${version}.0-${part}.jsonl`, import.meta.url), 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Recording),
  );
}

function describeHead({ httpVersion, status, reason, headers }: Answer) {
  const type = headers.find(([name]) => name === 'Content-Type')?.[1];
  return { httpVersion, status, reason, headers: headers.map(([name]) => name), type };
}

function readLength({ headers }: Answer): number {
  return Number(headers.find(([name]) => name === 'Content-Length')?.[1]);
}

const cut = '…[cut by recorder]…';

function expectSameBody(ours: string, recorded: string): void {
  if (!recorded.startsWith('{')) {
    // Pages of the web site differ with each theme; what they are is in the head.
    if (recorded.length < 1000) expect(ours).toBe(recorded);
    return;
  }
  if (recorded.includes(cut) && !recorded.includes('"error"')) {
    const firstRecord = (text: string) => readJson(/\{"id".*?\}(?=, \{|\])/.exec(text)?.[0] ?? '[]');
    expect(ours.slice(0, 40)).toBe(recorded.slice(0, 40));
    expect(findShapeDifference(firstRecord(recorded), firstRecord(ours))).toBeUndefined();
    return;
  }
  // No data in it: every byte counts, the echoed id's too.
  if (recorded.includes('"server_version"')) expect(ours).toBe(recorded);
  const [found, wanted] = [readJson(ours), readJson(recorded)];
  if (!isObject(found) || !isObject(wanted)) throw new Error(`no object: ${ours}`);
  expect(Object.keys(found)).toEqual(Object.keys(wanted));
  expect(found['id'] ?? null).toEqual(wanted['id'] ?? null);
  if (isObject(wanted['error'] ?? null)) expect(describeError(found)).toEqual(describeError(wanted));
  else if ('result' in wanted)
    expect(findShapeDifference(wanted['result'] as Json, found['result'] as Json)).toBeUndefined();
  else expect(findShapeDifference(wanted, found)).toBeUndefined();
}

/** Everything of an error but what the data decide: digits and the traceback. */
function describeError(envelope: Json): unknown {
  const { error } = envelope as { error: { code: number; message: string; data: Record<string, Json> } };
  const { debug, message, ...data } = error.data;
  return {
    order: [Object.keys(error), Object.keys(error.data)],
    code: error.code,
    message: error.message,
    name: data['name'],
    text: hideData(String(message)),
    argumentCount: (data['arguments'] as unknown[]).length,
    hasTraceback: String(debug).startsWith('Traceback'),
  };
}

function hideData(text: string): string {
  return text.replace('Low Priv', 'Marc Demo').replace(/\d+/g, '0');
}
