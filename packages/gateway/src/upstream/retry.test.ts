import { RetryBudget } from '@erp-proxy/traffic/limits';
import { createTestLimiters, expectPermit } from '@erp-proxy/traffic/testing';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { countOwnTimers } from '../../../server/test/own-timers.ts';
import { createRandom } from '../../../server/test/seeded-random.ts';
import type { CallContext } from '../terms/call-context.ts';
import { Denial } from '../terms/denial.ts';
import { replyWhole } from '../terms/reply.ts';
import { Deadline } from '../terms/request-time.ts';
import type { Target } from '../terms/target.ts';
import { CHANGED } from '../terms/upstream-denials.ts';
import { type Attempt, chooseDelayMs, retry, sendWithRetries } from './retry.ts';

const LOST: Attempt = {
  reply: new Denial('upstream_unreachable', 'The server closed the connection without an answer.'),
  egressResult: { ok: false, reason: 'reset', sent: true, detail: 'ECONNRESET' },
};

/** Timers that other work of the process repeats would never end. */
const LONGER_THAN_WAITS_MS = 10_000;

const TARGET = { origin: 'https://erp.example.com', pathPrefix: '', trust: null, db: 'a' } as Target;

let deadline: Deadline;
beforeEach(() => {
  vi.useFakeTimers();
  deadline = new Deadline();
});
afterEach(() => {
  deadline.clear();
  vi.useRealTimers();
});

/** Starts a read whose connection is lost each time. The fake timers advance its clock. */
function start({ max = 2, leftMs = 15_000, usualMs = 0 } = {}) {
  const { clock, acquire, runCall } = createTestLimiters();
  for (let answer = 0; usualMs > 0 && answer < 20; answer++) runCall('answered', usualMs);
  const sentAt: number[] = [];
  const startedMs = clock.nowMs;
  const reply = retry(
    {
      send: async () => {
        sentAt.push(vi.getMockedSystemTime()!.valueOf());
        return LOST;
      },
      isReadOnly: true,
      database: 'a',
      permit: expectPermit(acquire({ deadlineMs: startedMs + leftMs })),
      deadline,
      onRetry() {},
    },
    { budget: new RetryBudget(() => clock.nowMs), max, random: () => 1 },
  );
  return { reply, sentAt };
}

test('doubles the wait each time, up to two seconds', async () => {
  const { reply, sentAt } = start({ max: 6 });
  await vi.advanceTimersByTimeAsync(LONGER_THAN_WAITS_MS);
  expect(await reply).toBe(LOST.reply);
  const waits = sentAt.slice(1).map((at, index) => at - sentAt[index]!);
  expect(waits).toEqual([100, 200, 400, 800, 1600, 2000]);
});

test('spreads the waits over the whole range', () => {
  const seed = Date.now();
  const random = createRandom(seed);
  const waits = Array.from({ length: 1_000 }, () => chooseDelayMs(1, random));
  expect(Math.min(...waits), `seed ${seed}`).toBeLessThan(20);
  expect(Math.max(...waits), `seed ${seed}`).toBeGreaterThan(180);
  expect(Math.max(...waits)).toBeLessThanOrEqual(200);
});

test.each([
  ['the wait exceeds the remaining time', { leftMs: 100 }],
  ['the time after the wait is less than answers usually take', { leftMs: 600, usualMs: 1_000 }],
])('does not wait if %s', async (_why, given) => {
  const countTimers = countOwnTimers();
  const { reply, sentAt } = start(given);
  expect(await reply).toBe(LOST.reply);
  expect(sentAt).toHaveLength(1);
  expect(countTimers()).toBe(0);
});

test('does not send again once the caller has left', async () => {
  const countTimers = countOwnTimers();
  const { reply, sentAt } = start();
  await vi.advanceTimersByTimeAsync(50);
  deadline.end('caller_left');
  expect(await reply).toBe(LOST.reply);
  expect(sentAt).toHaveLength(1);
  expect(countTimers()).toBe(0);
});

test('sends nothing to the server if the call has changed during the wait', async () => {
  const { clock, acquire } = createTestLimiters();
  const sendOnce = vi.fn(async () => LOST);
  const step = sendWithRetries(sendOnce, {
    retries: { budget: new RetryBudget(() => clock.nowMs), max: 2, random: () => 1 },
    events: { callRetried() {} },
  });
  const context = {
    permit: expectPermit(acquire({ deadlineMs: clock.nowMs + 15_000 })),
    credentialCheck: null,
    time: { deadline },
    isUnchanged: () => sendOnce.mock.calls.length === 0,
  } as unknown as CallContext;
  const reply = step({ isReadOnly: true, target: TARGET }, context, async () => LOST.reply);
  await vi.advanceTimersByTimeAsync(LONGER_THAN_WAITS_MS);
  expect(await reply).toBe(CHANGED);
  expect(sendOnce).toHaveBeenCalledOnce();
});

test('the time of the server begins once the call was checked again', async () => {
  const order: string[] = [];
  const context = {
    permit: { markSent: () => order.push('marked') },
    credentialCheck: null,
    time: { deadline: { reason: null } },
    isUnchanged: async () => order.push('checked') > 0,
  } as unknown as CallContext;
  const send = async () => {
    order.push('sent');
    return { reply: replyWhole(Buffer.from('true'), Buffer.from('}')), egressResult: null };
  };
  const retries = { budget: { earn() {} }, max: 0, random: () => 0 } as never;
  const step = sendWithRetries(send, { retries, events: { callRetried() {} } });
  await step({ isReadOnly: true, target: TARGET }, context, () => Promise.reject(new Error('the last step')));
  expect(order).toEqual(['checked', 'marked', 'sent']);
});
