/** Log lines as log collectors read them. */
import { expect, test, vi } from 'vitest';
import { closeAfterTest } from '../../test/close-after-test.ts';
import { createLogger, describeError, logEvents } from './log.ts';

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
