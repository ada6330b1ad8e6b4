import { expect, test } from 'vitest';
import { Deadline } from '../terms/request-time.ts';
import { Admission } from './admission.ts';

test('refuses new requests once it stops, and says that nothing was sent', async () => {
  const admission = new Admission();
  await admission.stop(0);
  const denial = admission.enter(new Deadline());
  expect(denial?.type).toBe('overloaded');
  expect(denial?.more.outcome).toBe('not_sent');
  expect(denial?.retryable).toBe(true);
});

test('waits until the running requests have ended', async () => {
  const admission = new Admission();
  const deadline = new Deadline();
  admission.enter(deadline);
  let isStopped = false;
  const stopped = admission.stop(60_000).then(() => {
    isStopped = true;
  });
  await Promise.resolve();
  expect(isStopped).toBe(false);
  admission.leave(deadline);
  await stopped;
  expect(deadline.reason).toBeNull();
});

test('ends requests that still run after the grace time', async () => {
  const admission = new Admission();
  const deadlines = Array.from({ length: 4 }, () => new Deadline());
  for (const deadline of deadlines) {
    admission.enter(deadline);
    deadline.signal.addEventListener('abort', () => admission.leave(deadline));
  }
  await admission.stop(1);
  expect(deadlines.map(({ reason }) => reason)).toEqual(Array(4).fill('shutdown'));
});
