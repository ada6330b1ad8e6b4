import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { passTurns, runLater } from '../../../server/test/time.ts';
import { createCredentialMemory } from './check-credentials.ts';
import { type Lockout, type LoginTrial, LoginTrials } from './login-trials.ts';

const MINUTE_MS = 60_000;
const TTL_MS = 10_000;
/** Calls wait a second for the outcome of another call, and check every 100 ms whether they may be sent. */
const LONGER_THAN_ALL_WAITS_MS = 3_000;

// Timers end at once, in their order.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }).setTimerTickMode('nextTimerAsync');
});
afterEach(() => {
  vi.useRealTimers();
});

function setUp(processes = 1) {
  const clock = { ms: 1_000_000 };
  const trials = new LoginTrials(
    () => clock.ms,
    () => processes,
  );
  const memory = createCredentialMemory(TTL_MS, () => clock.ms, trials);
  const calls = new AbortController();
  const makeTrial = (credentialsId: string, changes: Partial<LoginTrial> = {}): LoginTrial => ({
    database: 'http://a prod',
    caller: 'one',
    credentialsId,
    findLockout: () => 'possible',
    findSentMs: () => null,
    ...changes,
  });
  const check = (credentialsId: string, changes: Partial<LoginTrial> = {}) =>
    memory.check(makeTrial(credentialsId, changes), calls.signal);
  /** Tries credentials that Odoo refuses. Returns `sent`, or why the call was not sent. */
  async function fail(credentialsId: string, changes: Partial<LoginTrial> = {}) {
    const checked = await check(credentialsId, changes);
    if (checked === 'refused' || 'refused' in checked) return checked;
    checked.settle('refused');
    return 'sent';
  }
  async function succeed(credentialsId: string, changes: Partial<LoginTrial> = {}) {
    const checked = await check(credentialsId, changes);
    if (checked === 'refused' || 'refused' in checked) return checked;
    checked.settle('accepted');
    return 'sent';
  }
  return { clock, trials, memory, calls, check, fail, succeed };
}

describe('a caller with wrong keys', () => {
  test('can send three of them to Odoo within 15 minutes', async () => {
    const { clock, fail } = setUp();
    expect([await fail('a'), await fail('b')]).toEqual(['sent', 'sent']);
    clock.ms += MINUTE_MS;
    expect(await fail('c')).toBe('sent');
    expect(await fail('d')).toEqual({ refused: 'failures', retryAfterMs: 14 * MINUTE_MS });
    clock.ms += 14 * MINUTE_MS;
    expect([await fail('e'), await fail('f')]).toEqual(['sent', 'sent']);
    expect(await fail('g')).toMatchObject({ refused: 'failures' });
  });

  test('gets the refusal of Odoo for a key that Odoo has refused, however often it is tried', async () => {
    const { clock, fail } = setUp();
    const outcomes: unknown[] = [];
    for (let time = 0; time < 60; time++) {
      outcomes.push(await fail('a'));
      clock.ms += TTL_MS + 1;
    }
    expect(outcomes.filter((outcome) => outcome === 'sent').length).toBe(2);
    expect(new Set(outcomes)).toEqual(new Set(['sent', 'refused']));
  });

  test('does not affect other callers, other databases, or credentials that worked', async () => {
    const { fail, succeed } = setUp();
    await succeed('good');
    for (const id of ['a', 'b', 'c']) await fail(id);
    expect(await fail('d')).toMatchObject({ refused: 'failures' });
    expect(await succeed('good')).toBe('sent');
    expect(await succeed('new', { caller: 'two' })).toBe('sent');
    expect(await succeed('new at another database', { database: 'http://b prod' })).toBe('sent');
  });

  test('cannot send them all at once: the fourth trial waits for the first three', async () => {
    const { check, fail } = setUp();
    const open = await Promise.all(['a', 'b', 'c'].map((id) => check(id)));
    const fourth = fail('d');
    for (const use of open) if (typeof use === 'object' && 'settle' in use) use.settle('refused');
    expect(await fourth).toMatchObject({ refused: 'failures' });
  });

  test('shares the limit for one wrong key of an instance with all other callers', async () => {
    const { clock, fail } = setUp();
    let sent = 0;
    for (let time = 0; time < 30; time++) {
      if ((await fail('a', { caller: `caller ${time}` })) === 'sent') sent++;
      clock.ms += TTL_MS + 1;
    }
    expect(sent).toBe(2);
  });

  test('can try other credentials while it repeats a wrong one', async () => {
    const { clock, fail, succeed } = setUp();
    for (let time = 0; time < 60; time++) {
      await fail('wrong');
      expect(await succeed(`user ${time}`)).toBe('sent');
      clock.ms += MINUTE_MS;
    }
  });

  test('has refusals that a method may have raised counted, but not remembered', async () => {
    const { check } = setUp();
    for (let time = 0; time < 2; time++) {
      const use = await check('instance');
      if (use === 'refused' || 'refused' in use)
        throw new Error('expected permission to use the credentials');
      use.settle('doubtful');
    }
    expect(await check('instance')).toBe('refused');
    expect(await check('other')).toMatchObject({ isTrial: true });
  });

  test.each([
    ['different keys', (index: number) => `key ${index}`],
    ['one key', () => 'key'],
  ])(
    'has at most four trials in flight if Odoo is slow and is known to lock addresses out: %s',
    async (_, name) => {
      const { clock, calls, check } = setUp();
      let sent = 0;
      for (let index = 0; index < 20; index++) {
        const sentAt = clock.ms;
        const asked = check(name(index), { findLockout: () => 'known', findSentMs: () => sentAt });
        void Promise.resolve(asked).then((use) => {
          if (typeof use === 'object' && 'isTrial' in use && use.isTrial) sent++;
        });
        clock.ms += 1_500;
        await passTurns();
      }
      await new Promise<void>((resolve) => runLater(LONGER_THAN_ALL_WAITS_MS, resolve));
      expect(sent).toBe(4);
      calls.abort();
    },
  );
});

describe('many correct keys after the start', () => {
  test('are tried as earlier ones are accepted', async () => {
    const { succeed } = setUp();
    const all = Array.from({ length: 20 }, (_, index) => succeed(`user ${index}`));
    expect(new Set(await Promise.all(all))).toEqual(new Set(['sent']));
  });

  test('do not wait for a long call, which counts as accepted', async () => {
    const { clock, check, succeed } = setUp();
    const findSentMs = () => clock.ms - 1_001;
    for (const id of ['a', 'b', 'c']) await check(id, { findSentMs });
    expect(await succeed('d')).toBe('sent');
  });

  test('all calls with the same credentials are sent once one of them counts as accepted, also if the server hangs', async () => {
    const { clock, check } = setUp();
    const sentAt = clock.ms;
    await check('a', { findSentMs: () => sentAt });
    const others = Array.from({ length: 100 }, () => check('a'));
    clock.ms += 1_000;
    for (const use of await Promise.all(others)) expect(use).toMatchObject({ isTrial: true });
  });

  test('a call that waits for others is sent once the server is known not to lock addresses out', async () => {
    const { check, succeed } = setUp();
    let lockout: Lockout = 'possible';
    for (const id of ['a', 'b', 'c']) await check(id);
    const waiting = succeed('d', { findLockout: () => lockout });
    lockout = 'none';
    expect(await waiting).toBe('sent');
  });

  test('a call stops waiting when its time limit has passed', async () => {
    const { calls, check } = setUp();
    for (const id of ['a', 'b', 'c']) await check(id);
    const waiting = check('d');
    calls.abort();
    expect(await waiting).toMatchObject({ isTrial: false });
  });
});

describe('during a lockout', () => {
  test('no unknown credentials of any caller are sent until a minute after the last failure', async () => {
    const { clock, memory, fail, succeed } = setUp();
    await succeed('good');
    await fail('a');
    clock.ms += 20_000;
    expect(memory.recordCooldown('http://a prod')).toBe(40_000);
    expect(await succeed('new', { caller: 'two' })).toEqual({ refused: 'cooldown', retryAfterMs: 40_000 });
    expect(await succeed('good')).toBe('sent');
    expect(await succeed('new', { caller: 'two', database: 'http://b prod' })).toBe('sent');
    clock.ms += 40_000;
    expect(await succeed('new', { caller: 'two' })).toBe('sent');
  });

  test('a call that was waiting for its permit is refused before it is sent', async () => {
    const { memory, check } = setUp();
    const use = await check('new');
    if (use === 'refused' || 'refused' in use) throw new Error('expected permission to use the credentials');
    expect(use.findRefusal()).toBeNull();
    memory.recordCooldown('http://a prod');
    expect(use.findRefusal()).toEqual({ refused: 'cooldown', retryAfterMs: MINUTE_MS });
  });

  test('its end is a minute after it was detected if the failures were of other programs', async () => {
    const { clock, memory, succeed } = setUp();
    expect(memory.recordCooldown('http://a prod')).toBe(MINUTE_MS);
    clock.ms += 30_000;
    // Calls in flight report the same lockout, which must not extend it.
    expect(memory.recordCooldown('http://a prod')).toBe(30_000);
    clock.ms += 30_000;
    expect(await succeed('new')).toBe('sent');
  });
});

test('processes that share the address share the limit', async () => {
  const { fail } = setUp(3);
  expect(await fail('a')).toBe('sent');
  expect(await fail('b')).toMatchObject({ refused: 'failures' });
});

test('trials are not limited if the server locks no addresses out', async () => {
  const { fail } = setUp();
  for (let key = 0; key < 50; key++) expect(await fail(`${key}`, { findLockout: () => 'none' })).toBe('sent');
});
