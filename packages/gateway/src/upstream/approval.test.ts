import { expect, test, vi } from 'vitest';
import { Denial } from '../terms/denial.ts';
import type { Reply } from '../terms/reply.ts';
import { Deadline } from '../terms/request-time.ts';
import { TaskAborted } from '../thread/run-in-thread.ts';
import { claimApproval } from './approval.ts';

const RAN: Reply = { kind: 'kept', status: 200, body: Buffer.from('{}') };
const NOT_SENT = new Denial('overloaded', 'no permit', { outcome: 'not_sent' });

test.each([
  ['given back if the time of the call ended before it was sent', () => Promise.reject(new TaskAborted()), 1],
  ['given back if the call did not run', async () => NOT_SENT, 1],
  ['used if the call ran', async () => RAN, 0],
  ['used if nobody knows', () => Promise.reject(new Error('broken')), 0],
])('a claimed approval is %s', async (_, next, releases) => {
  const approval = { claim: async () => true, release: vi.fn(async () => {}) };
  const deadline = new Deadline();
  const time = { deadline, signal: deadline.signal, hasCallerLeft: false };
  await Promise.allSettled([claimApproval()({}, { approval, time } as never, next)]);
  expect(approval.release).toHaveBeenCalledTimes(releases);
});
