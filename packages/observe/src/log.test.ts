/** Log lines as log collectors read them. */

import { spawnSync } from 'node:child_process';
import { PassThrough } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { closeAfterTest } from '../../server/test/close-after-test.ts';
import { collectLines, createLogger, describeError, logEvents } from './log.ts';

function createLog(level: string): {
  logger: ReturnType<typeof createLogger>;
  lines: Record<string, unknown>[];
} {
  const lines: Record<string, unknown>[] = [];
  const logger = createLogger(level, { add: (print) => lines.push(JSON.parse(print())) });
  return { logger, lines };
}

test('a line has level, time, fields and message, and ends with a line break', () => {
  const written: string[] = [];
  createLogger('info', { add: (print) => written.push(print()) }).warn('hello\nthere', { a: '"', b: null });
  expect(written).toHaveLength(1);
  expect(written[0]).toMatch(
    /^\{"level":"warn","time":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z","a":"\\"","b":null,"msg":"hello\\nthere"\}\n$/,
  );
});

test.each([
  ['trace', ['a', 'b', 'c']],
  ['info', ['a', 'b', 'c']],
  ['warn', ['b', 'c']],
  ['error', ['c']],
  ['fatal', []],
  ['silent', []],
])('level %s writes lines that are at least as severe', (level, expected) => {
  const { logger, lines } = createLog(level);
  logger.info('a');
  logger.warn('b');
  logger.error('c');
  expect(lines.map((line) => line['msg'])).toEqual(expected);
});

test('an internal error is logged with its type, code, stack and cause', () => {
  const { logger, lines } = createLog('info');
  const cause = Object.assign(new TypeError('inner'), { code: 'E_INNER' });
  logEvents(logger).faultSeen?.('r1', new Error('outer', { cause }));
  expect(lines[0]).toMatchObject({
    level: 'error',
    requestId: 'r1',
    msg: 'internal error',
    err: {
      type: 'Error',
      message: 'outer',
      stack: expect.stringContaining('log.test.ts'),
      cause: { type: 'TypeError', message: 'inner', code: 'E_INNER' },
    },
  });
  expect(describeError('thrown text')).toBe('thrown text');
});

test('requests that were refused for lack of processor time are one line per second', () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  closeAfterTest({ close: () => vi.useRealTimers() });
  const { logger, lines } = createLog('info');
  const events = logEvents(logger);
  for (const count of [1, 20, 300]) events.requestsShed?.(count);
  vi.advanceTimersByTime(999);
  expect(lines).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(lines).toMatchObject([{ refused: 321, msg: 'overloaded' }]);
  events.requestsShed?.(5);
  vi.advanceTimersByTime(1000);
  expect(lines[1]).toMatchObject({ refused: 5 });
});

const BUFFERED_MS = 100;

test('writes lines that follow each other closely in one write, in order', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  closeAfterTest({ close: () => vi.useRealTimers() });
  const writes: string[] = [];
  const lines = collectLines({ write: (text) => writes.push(text) });
  lines.add(() => 'a\n');
  await nextTurn();
  vi.advanceTimersByTime(BUFFERED_MS - 1);
  lines.add(() => 'b\n');
  expect(writes).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(writes).toEqual(['a\nb\n']);
  lines.add(() => 'c\n');
  vi.advanceTimersByTime(BUFFERED_MS);
  expect(writes).toEqual(['a\nb\n', 'c\n']);
  const long = `${'d'.repeat(8 * 1024)}\n`;
  for (let count = 0; count < 16; count++) lines.add(() => long);
  expect(writes.slice(2)).toEqual([long.repeat(8), long.repeat(8)]);
});

test.each(['process.exit(3)', 'throw new Error()', 'Promise.reject(new Error())', ''])(
  'a line is written although the process ends at once: %s',
  (end) => {
    const module = JSON.stringify(new URL('./log.ts', import.meta.url).href);
    const script = `
      const { collectLines } = await import(${module});
      collectLines(process.stdout).add(() => 'last line\\n');
      ${end}
    `;
    const { stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
      encoding: 'utf8',
    });
    expect(stdout).toBe('last line\n');
  },
);

test('prints a line once, when it writes it', async () => {
  const writes: string[] = [];
  const lines = collectLines({ write: (text) => writes.push(text) });
  let value = 'old';
  let printed = 0;
  lines.add(() => `${value} ${++printed}\n`);
  value = 'new';
  expect(printed).toBe(0);
  await expect.poll(() => writes).toEqual(['new 1\n']);
});

test('a line that cannot be printed loses no other', async () => {
  const writes: string[] = [];
  const lines = collectLines({ write: (text) => writes.push(text) });
  const failing = Array.from({ length: 16 }, (_, count) => () => {
    if (count === 3) throw new Error('not printed');
    return `${count}\n`;
  });
  expect(() => failing.forEach(lines.add)).toThrow('not printed');
  lines.add(() => 'last\n');
  await expect.poll(() => writes.join('')).toMatch(/^0\n1\n2\n4\n.*15\nlast\n$/s);
});

test('drops lines beyond a bound while the receiver does not read, and continues once it reads', async () => {
  const stalled = new PassThrough();
  const lines = collectLines(stalled);
  for (let count = 0; count < 40; count++) {
    lines.add(() => `${'x'.repeat(1024 ** 2)}\n`);
    await nextTurn();
  }
  expect(stalled.writableLength).toBeLessThan(20 * 1024 ** 2);
  stalled.resume();
  await expect.poll(() => stalled.writableLength).toBe(0);
  let last = '';
  stalled.on('data', (bytes) => {
    last = String(bytes);
  });
  lines.add(() => 'after\n');
  await expect.poll(() => last).toBe('after\n');
});
