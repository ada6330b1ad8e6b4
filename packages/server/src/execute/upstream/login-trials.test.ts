import { describe, expect, test } from 'vitest';
import { createCredentialMemory } from './credential-memory.ts';
import { type LoginTrial, LoginTrials } from './login-trials.ts';

const MINUTE_MS = 60_000;
const TTL_MS = 10_000;

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
    lockout: () => 'possible',
    sentMs: () => null,
    ...changes,
  });
  const check = (credentialsId: string, changes: Partial<LoginTrial> = {}) =>
    memory.check(makeTrial(credentialsId, changes), calls.signal);
  /** Tries credentials that Odoo refuses; gives what kept the call from being sent, if anything did. */
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
  test('has three that reach Odoo in a quarter of an hour', async () => {
    const { clock, fail } = setUp();
    expect([await fail('a'), await fail('b')]).toEqual(['sent', 'sent']);
    clock.ms += MINUTE_MS;
    expect(await fail('c')).toBe('sent');
    expect(await fail('d')).toEqual({ refused: 'failures', retryAfterMs: 14 * MINUTE_MS });
    clock.ms += 14 * MINUTE_MS;
    expect([await fail('e'), await fail('f')]).toEqual(['sent', 'sent']);
    expect(await fail('g')).toMatchObject({ refused: 'failures' });
  });

  test('has the answer of Odoo to a key that it was asked about, however often it is tried', async () => {
    const { clock, fail } = setUp();
    const outcomes: unknown[] = [];
    for (let time = 0; time < 60; time++) {
      outcomes.push(await fail('a'));
      clock.ms += TTL_MS + 1;
    }
    expect(outcomes.filter((outcome) => outcome === 'sent').length).toBe(2);
    expect(new Set(outcomes)).toEqual(new Set(['sent', 'refused']));
  });

  test('keeps nobody else from trying, nor from going on with what worked', async () => {
    const { fail, succeed } = setUp();
    await succeed('good');
    for (const id of ['a', 'b', 'c']) await fail(id);
    expect(await fail('d')).toMatchObject({ refused: 'failures' });
    expect(await succeed('good')).toBe('sent');
    expect(await succeed('new', { caller: 'two' })).toBe('sent');
    expect(await succeed('new at another database', { database: 'http://b prod' })).toBe('sent');
  });

  test('cannot send them all at once: of those that are on trial the fourth waits', async () => {
    const { check, fail } = setUp();
    const open = await Promise.all(['a', 'b', 'c'].map((id) => check(id)));
    const fourth = fail('d');
    for (const ticket of open) if (typeof ticket === 'object' && 'settle' in ticket) ticket.settle('refused');
    expect(await fourth).toMatchObject({ refused: 'failures' });
  });

  test('has the same wrong key of an instance bounded together with all other callers', async () => {
    const { clock, fail } = setUp();
    let sent = 0;
    for (let time = 0; time < 30; time++) {
      if ((await fail('a', { caller: `caller ${time}` })) === 'sent') sent++;
      clock.ms += TTL_MS + 1;
    }
    expect(sent).toBe(2);
  });

  test('by one credential that is wrong, tried again and again, keeps none of its other users out', async () => {
    const { clock, fail, succeed } = setUp();
    for (let time = 0; time < 60; time++) {
      await fail('wrong');
      expect(await succeed(`user ${time}`)).toBe('sent');
      clock.ms += MINUTE_MS;
    }
  });

  test('has those counted that may be what a method says, without their being remembered', async () => {
    const { check } = setUp();
    for (let time = 0; time < 2; time++) {
      const ticket = await check('instance');
      if (ticket === 'refused' || 'refused' in ticket) throw new Error('expected a ticket');
      ticket.settle('doubtful');
    }
    expect(await check('instance')).toBe('refused');
    expect(await check('other')).toMatchObject({ isTrial: true });
  });

  test.each([
    ['different keys', (index: number) => `key ${index}`],
    ['one key', () => 'key'],
  ])('has fewer than five under way where Odoo is slow, and known to lock out: %s', async (_, name) => {
    const { clock, calls, check } = setUp();
    let sent = 0;
    for (let index = 0; index < 20; index++) {
      const sentAt = clock.ms;
      const asked = check(name(index), { lockout: () => 'known', sentMs: () => sentAt });
      void Promise.resolve(asked).then((ticket) => {
        if (typeof ticket === 'object' && 'isTrial' in ticket && ticket.isTrial) sent++;
      });
      clock.ms += 1_500;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    expect(sent).toBe(4);
    calls.abort();
  });
});

describe('many right keys at first', () => {
  test('go on as each is let in', async () => {
    const { succeed } = setUp();
    const all = Array.from({ length: 20 }, (_, index) => succeed(`user ${index}`));
    expect(new Set(await Promise.all(all))).toEqual(new Set(['sent']));
  });

  test('are not held up by one that runs for long: it was let in', async () => {
    const { clock, check, succeed } = setUp();
    const sentMs = () => clock.ms - 1_001;
    for (const id of ['a', 'b', 'c']) await check(id, { sentMs });
    expect(await succeed('d')).toBe('sent');
  });

  test('all calls with the same credentials go once one of them was let in, also where the server hangs', async () => {
    const { clock, check } = setUp();
    const sentAt = clock.ms;
    await check('a', { sentMs: () => sentAt });
    const others = Array.from({ length: 100 }, () => check('a'));
    clock.ms += 1_000;
    for (const ticket of await Promise.all(others)) expect(ticket).toMatchObject({ isTrial: true });
  });

  test('a call that waits for others goes on where it is learnt that nobody is locked out', async () => {
    const { check, succeed } = setUp();
    let lockout: ReturnType<LoginTrial['lockout']> = 'possible';
    for (const id of ['a', 'b', 'c']) await check(id);
    const waiting = succeed('d', { lockout: () => lockout });
    lockout = 'none';
    expect(await waiting).toBe('sent');
  });

  test('a call whose time is over waits no longer', async () => {
    const { calls, check } = setUp();
    for (const id of ['a', 'b', 'c']) await check(id);
    const waiting = check('d');
    calls.abort();
    expect(await waiting).toMatchObject({ isTrial: false });
  });
});

describe('while Odoo locks the address out', () => {
  test('nothing unknown is sent, of any caller, until a minute after the last failure', async () => {
    const { clock, memory, fail, succeed } = setUp();
    await succeed('good');
    await fail('a');
    clock.ms += 20_000;
    expect(memory.noteCooldown('http://a prod')).toBe(40_000);
    expect(await succeed('new', { caller: 'two' })).toEqual({ refused: 'cooldown', retryAfterMs: 40_000 });
    expect(await succeed('good')).toBe('sent');
    expect(await succeed('new', { caller: 'two', database: 'http://b prod' })).toBe('sent');
    clock.ms += 40_000;
    expect(await succeed('new', { caller: 'two' })).toBe('sent');
  });

  test('a call that waited for its turn meanwhile is told so before it is sent', async () => {
    const { memory, check } = setUp();
    const ticket = await check('new');
    if (ticket === 'refused' || 'refused' in ticket) throw new Error('expected a ticket');
    expect(ticket.findBar()).toBeNull();
    memory.noteCooldown('http://a prod');
    expect(ticket.findBar()).toEqual({ refused: 'cooldown', retryAfterMs: MINUTE_MS });
  });

  test('it lasts a minute from when it was seen, where the failures were not ours', async () => {
    const { clock, memory, succeed } = setUp();
    expect(memory.noteCooldown('http://a prod')).toBe(MINUTE_MS);
    clock.ms += 30_000;
    // Calls that were under way meet it too: it does not begin anew.
    expect(memory.noteCooldown('http://a prod')).toBe(30_000);
    clock.ms += 30_000;
    expect(await succeed('new')).toBe('sent');
  });
});

test('processes that share the address share the bound', async () => {
  const { fail } = setUp(3);
  expect(await fail('a')).toBe('sent');
  expect(await fail('b')).toMatchObject({ refused: 'failures' });
});

test('nothing is bounded where nobody is locked out', async () => {
  const { fail } = setUp();
  for (let key = 0; key < 50; key++) expect(await fail(`${key}`, { lockout: () => 'none' })).toBe('sent');
});
