import { expect, test } from 'vitest';
import {
  checkAudit,
  checkInstanceKeys,
  checkRedis,
  checkStore,
  checkTraffic,
  decideReadiness,
} from './health.ts';

const OK = { state: 'ok', detail: null } as const;
const degraded = (detail: unknown) => ({ state: 'degraded', detail });

test.each([
  [[], { isReady: true, status: 'ready' }],
  [[OK, { state: 'degraded', detail: 'a' }], { isReady: true, status: 'degraded' }],
  [
    [
      { state: 'degraded', detail: 'a' },
      { state: 'failed', detail: 'b' },
    ],
    { isReady: false, status: 'not_ready' },
  ],
] as const)('one failed check makes the process not ready, a degraded one does not', (checks, readiness) => {
  expect(decideReadiness(checks)).toEqual(readiness);
});

test('a process that shuts down gets no traffic', () => {
  const none = { refusedAbove: null };
  expect(checkTraffic({ isStopping: true }, none)).toEqual({ state: 'failed', detail: 'shutting down' });
  expect(checkTraffic({ isStopping: false }, none)).toEqual(OK);
  expect(checkTraffic({ isStopping: false }, { refusedAbove: 700 })).toEqual({
    state: 'degraded',
    detail: 'client connections above 700 are refused; raise the limit of file descriptors (ulimit -n)',
  });
});

test('a store never takes the process out of traffic', async () => {
  const store = { probe: () => {}, trouble: null, isWatching: true };
  expect(await checkStore(store)).toEqual(OK);
  expect(await checkStore({ ...store, probe: () => Promise.reject(new Error('away')) })).toEqual(
    degraded(expect.stringContaining('does not answer')),
  );
  expect(await checkStore({ ...store, trouble: 'the disk is full' })).toEqual(
    degraded(expect.stringContaining('the disk is full')),
  );
  expect(await checkStore({ ...store, isWatching: false })).toEqual(
    degraded(expect.stringContaining('do not arrive')),
  );
});

test('the audit is degraded by lost records, and by ten thousand waiting ones', () => {
  expect(checkAudit({ waiting: 9_999, lost: 0 })).toEqual(OK);
  expect(checkAudit({ waiting: 10_000, lost: 0 })).toEqual(degraded(expect.stringContaining('10000')));
  expect(checkAudit({ waiting: 0, lost: 1 })).toEqual(degraded(expect.stringContaining('lost')));
});

test('instance keys and Redis degrade the process, with what it means for calls', () => {
  expect(checkInstanceKeys(null)).toEqual(OK);
  expect(checkInstanceKeys('prod: expires')).toEqual(degraded('prod: expires'));
  expect(checkRedis({ trouble: null }, true)).toEqual(OK);
  expect(checkRedis({ trouble: 'refused' }, false)).toEqual(
    degraded(expect.not.stringContaining('idempotency')),
  );
  expect(checkRedis({ trouble: 'refused' }, true)).toEqual(degraded(expect.stringContaining('idempotency')));
});
