/**
 * Compares the sandbox with recordings of real servers. Each recorded request is replayed over HTTP, and the answer
 * must have the recorded status, headers, envelope, error and shape of the result. Calls of six servers with realistic
 * data must have the recorded values too. Differences are listed with their reasons, and must occur.
 */
import { existsSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Sandbox, startSandbox, type Version } from '../src/index.ts';
import { type Answer, exchange, type RecordedRequest } from './exchange.ts';
import { explained } from './explained-differences.ts';
import { prepareRequest } from './prepare-request.ts';
import { compareCall, createBindings, readCalls } from './recorded-calls.ts';
import { expectSameBody } from './same-body.ts';

interface Recording {
  readonly name: string;
  readonly request: RecordedRequest;
  readonly response: Answer;
}

/** Recordings that the sandbox answers in another way, by version and name, with the reason. */
const answeredOtherwise: readonly (readonly [RegExp, string])[] = [
  [
    /^\d+ threaded-/,
    'the threaded server (workers = 0) is no production set-up; the sandbox plays the prefork one',
  ],
  [/^\d+ session-authenticate$/, 'a session of the web client: the proxy has none'],
  [/^\d+ xmlrpc-/, 'XML-RPC: the proxy does not speak it'],
  [/^18 error-json1-route$/, "/json/1: a preview of 18's web client, the proxy does not speak it"],
];

const versions: readonly Version[] = [16, 17, 18, 19];

const recordings = new Map(versions.map((version) => [version, readRecordings(version)]));
const sandboxes = new Map<Version, Sandbox>();
/**
 * Answers to requests whose body never ends: the sandbox answers them only after two seconds, so they are sent first.
 */
const late = new Map<Recording, Promise<Answer>>();
beforeAll(async () => {
  for (const version of versions) {
    const sandbox = await startSandbox({ version });
    sandboxes.set(version, sandbox);
    for (const recording of recordings.get(version)?.filter(isEndless) ?? []) {
      const answer = prepareRequest(sandbox, recording).then((request) => exchange(sandbox.url, request));
      // The test that awaits the answer rejects for the same reason.
      answer.catch(() => {});
      late.set(recording, answer);
    }
  }
});
afterAll(() => Promise.all([...sandboxes.values()].map((sandbox) => sandbox.close())));

for (const version of versions) {
  describe(`Odoo ${version}`, () => {
    for (const recording of recordings.get(version) ?? []) {
      const reason = answeredOtherwise.find(([pattern]) => pattern.test(`${version} ${recording.name}`))?.[1];
      const replay = async () => {
        const sandbox = sandboxes.get(version) as Sandbox;
        sandbox.reset();
        const request = await prepareRequest(sandbox, recording);
        const answer = await (late.get(recording) ?? exchange(sandbox.url, request));
        expect(describeHead(answer)).toEqual(describeHead(recording.response));
        expect(Buffer.byteLength(answer.body)).toBe(request.method === 'HEAD' ? 0 : readLength(answer));
        expectSameBody(answer, recording.response);
      };
      if (reason) {
        test(`answers ${recording.name} otherwise: ${reason}`, () =>
          expect(replay()).rejects.toThrow('expected'));
      } else test(`answers ${recording.name} as recorded`, replay);
    }
  });
}

/**
 * Returns the day of the sandbox's records: the records of the recorded servers were created on the day of the calls.
 */
const clock = () => Date.UTC(2026, 10, 21, 9);

for (const version of [14, 15, ...versions] as const) {
  test(`answers the calls of a real Odoo ${version} with the recorded values`, async () => {
    const sandbox = await startSandbox({ version, clock });
    const bindings = createBindings();
    try {
      for (const call of readCalls(version)) {
        const { name } = call;
        const difference = await compareCall(sandbox, call, bindings);
        const { ours = undefined } = explained.find(({ calls }) => calls.test(`${version} ${name}`)) ?? {};
        if (ours === undefined) expect({ name, difference }).toEqual({ name, difference: undefined });
        else expect({ name, difference }).toEqual({ name, difference: expect.stringMatching(ours) });
      }
    } finally {
      await sandbox.close();
    }
  });
}

test.each(explained)('$calls is a recorded call', ({ calls }) => {
  const names = [14, 15, ...versions].flatMap((version) =>
    readCalls(version).map(({ name }) => `${version} ${name}`),
  );
  expect(names.filter((name) => calls.test(name))).not.toEqual([]);
});

function readRecordings(version: Version): Recording[] {
  return ['jsonrpc', 'json2', 'doc', 'web']
    .map((part) => new URL(`../recordings/${version}.0-${part}.jsonl`, import.meta.url))
    .filter((file) => existsSync(file))
    .flatMap((file) => readFileSync(file, 'utf8').split('\n').filter(Boolean))
    .map((line) => JSON.parse(line) as Recording);
}

function isEndless({ request }: Recording): boolean {
  return request.body?.startsWith('<Content-Length') === true;
}

function describeHead({ httpVersion, status, reason, headers }: Answer) {
  const type = headers.find(([name]) => name === 'Content-Type')?.[1];
  return { httpVersion, status, reason, headers: headers.map(([name]) => name), type };
}

function readLength({ headers }: Answer): number {
  return Number(headers.find(([name]) => name === 'Content-Length')?.[1] ?? 0);
}
