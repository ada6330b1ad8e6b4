import { expect, test } from 'vitest';
import { type RawServer, startRawServer } from '../../../egress/test/raw-server.ts';
import { closeAfterTest } from '../../test/close-after-test.ts';
import { createDispatcherTo, postJson } from './post.ts';
import { runCommandLine } from './run.ts';
import { recordSurroundings } from './surroundings.fixture.ts';

async function startServer(answer: string): Promise<RawServer> {
  return closeAfterTest(await startRawServer((socket) => socket.end(answer)));
}

function post({ origin }: RawServer): ReturnType<typeof postJson> {
  const egress = closeAfterTest(createDispatcherTo(origin));
  return postJson(egress, new URL('/path', origin), '{}', { headers: { 'x-a': 'b' } });
}

const WHOLE = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello';
const TRUNCATED = 'HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhello';

test('sends the body as JSON and returns the whole answer', async () => {
  const server = await startServer(WHOLE);
  expect(await post(server)).toMatchObject({ ok: true, status: 200, body: Buffer.from('hello') });
  const [head, body] = server.requests[0]?.split('\r\n\r\n') ?? [];
  expect(head).toMatch(/^POST \/path HTTP\/1\.1\r\n/);
  expect(head).toContain('\r\ncontent-type: application/json\r\nx-a: b\r\n');
  expect(body).toBe('{}');
});

test('returns a failure if the answer breaks off', async () => {
  expect(await post(await startServer(TRUNCATED))).toMatchObject({ ok: false, reason: 'reset', sent: true });
});

test('the command `call` reports an answer that breaks off in one line', async () => {
  const { origin } = await startServer(TRUNCATED);
  const surroundings = recordSurroundings({ readInput: async () => Buffer.from('{}') });
  const argv = ['call', '--url', origin, '--key', 'ep_x'];
  const input = { argv, env: {}, cwd: '/nowhere', readFile: refuseToRead, version: '1.2.3' };
  expect(await runCommandLine(input, surroundings)).toBe(1);
  expect(surroundings.stdout).toBe('');
  expect(surroundings.stderr).toMatch(
    /^No answer from http:\/\/127\.0\.0\.1:\d+ \(the connection ended .*\n$/,
  );
});

function refuseToRead(): never {
  throw Object.assign(new Error('ENOENT'), { code: 'ENOENT' });
}
