import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { passTurns } from '../../../server/test/time.ts';
import { type Credentials, createCredentialNames } from '../call/resolve.ts';
import { type CheckResult, type CredentialUse, createCredentialMemory } from './check-credentials.ts';
import { LoginTrials } from './login-trials.ts';

const nameCredentials = createCredentialNames(Buffer.alloc(32, 1));

const GOOD: Credentials = {
  origin: 'https://a.example',
  pathPrefix: '',
  db: 'prod',
  userId: 2,
  apiKey: 'key-one',
  trust: null,
  person: null,
};
const TTL_MS = 10_000;
/** How long calls wait for the outcome of another one. */
const OUTCOME_WAIT_MS = 1_000;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Lets the wait for an outcome end. */
async function passOutcomeWait(): Promise<void> {
  vi.advanceTimersByTime(OUTCOME_WAIT_MS);
  await passTurns();
}

function setUp(ttlMs = TTL_MS) {
  let nowMs = 1000;
  const trials = new LoginTrials(
    () => nowMs,
    () => 1,
  );
  const memory = createCredentialMemory(ttlMs, () => nowMs, trials);
  const calls = new AbortController();
  return {
    check: (credentials: Credentials) =>
      memory.check(
        {
          database: 'prod',
          caller: 'one',
          credentialsId: nameCredentials(credentials),
          findLockout: () => 'none',
          findSentMs: () => null,
        },
        calls.signal,
      ),
    advance: (ms: number) => {
      nowMs += ms;
    },
    endCalls: () => calls.abort(),
  };
}

function expectUse(outcome: CheckResult | Promise<CheckResult>): CredentialUse {
  if (outcome === 'refused' || outcome instanceof Promise || 'refused' in outcome)
    throw new Error('expected permission to use the credentials, without a wait');
  return outcome;
}

test('refuses credentials that Odoo refused, until the time has passed', async () => {
  const { check, advance } = setUp();
  expectUse(check(GOOD)).settle('refused');
  expect(check(GOOD)).toBe('refused');
  advance(TTL_MS - 1);
  expect(check(GOOD)).toBe('refused');
  advance(2);
  expectUse(check(GOOD));
});

test.each([
  ['server', { origin: 'https://b.example' }],
  ['path prefix', { pathPrefix: '/odoo' }],
  ['database', { db: 'test' }],
  ['user', { userId: 3 }],
  ['key', { apiKey: 'key-two' }],
])('does not apply a refusal to another %s', (_what, change) => {
  const { check } = setUp();
  expectUse(check(GOOD)).settle('refused');
  expectUse(check({ ...GOOD, ...change }));
});

test('sends one call with new credentials, and refuses the others once Odoo has refused them', async () => {
  const { check } = setUp();
  const first = expectUse(check(GOOD));
  const others = [check(GOOD), check(GOOD)];
  expect(others.every((other) => other instanceof Promise)).toBe(true);
  first.settle('refused');
  expect(await Promise.all(others)).toEqual(['refused', 'refused']);
});

test('sends all calls once Odoo has accepted the first, and later ones without a wait', async () => {
  const { check } = setUp();
  const first = expectUse(check(GOOD));
  const other = check(GOOD);
  first.settle('accepted');
  expect(await other).not.toBe('refused');
  expectUse(check(GOOD));
});

test('sends the others if the answer to the first does not tell whether they work', async () => {
  const { check } = setUp();
  const first = expectUse(check(GOOD));
  const other = check(GOOD);
  first.settle('unknown');
  expect(await other).not.toBe('refused');
});

test('does not wait forever for a first call that hangs', async () => {
  const { check } = setUp();
  expectUse(check(GOOD));
  const second = check(GOOD);
  await passOutcomeWait();
  expect(await second).not.toBe('refused');
});

test('does not wait again for a first call that was not answered in time', async () => {
  const { check } = setUp();
  expectUse(check(GOOD));
  const second = check(GOOD);
  await passOutcomeWait();
  await second;
  // The clock stands still.
  expect(await check(GOOD)).not.toBe('refused');
});

test('ends the wait when the call ends', async () => {
  const { check, endCalls } = setUp();
  expectUse(check(GOOD));
  const other = check(GOOD);
  endCalls();
  expect(await other).not.toBe('refused');
});

test('tries accepted credentials again after a refusal, which a method may have raised', async () => {
  const { check } = setUp();
  expectUse(check(GOOD)).settle('accepted');
  expectUse(check(GOOD)).settle('refused');
  const trial = expectUse(check(GOOD));
  const other = check(GOOD);
  trial.settle('refused');
  expect(await other).toBe('refused');
  expect(check(GOOD)).toBe('refused');
});

test('does not replace a refusal by an older success whose answer arrives later', () => {
  const { check } = setUp();
  expectUse(check(GOOD)).settle('accepted');
  const slow = expectUse(check(GOOD));
  expectUse(check(GOOD)).settle('refused');
  expectUse(check(GOOD)).settle('refused');
  slow.settle('accepted');
  expect(check(GOOD)).toBe('refused');
});

test('remembers nothing if it is turned off', () => {
  const { check } = setUp(0);
  expectUse(check(GOOD)).settle('refused');
  expectUse(check(GOOD));
});

test('does not wait after the end of the call', async () => {
  const { check, endCalls } = setUp();
  expectUse(check(GOOD));
  endCalls();
  // The clock stands still.
  expect(await check(GOOD)).not.toBe('refused');
});
