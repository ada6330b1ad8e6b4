import { expect, test } from 'vitest';
import { type Credentials, createCredentialNames } from '../call/credentials-id.ts';
import { type Checked, createCredentialMemory, type Ticket } from './credential-memory.ts';
import { LoginTrials } from './login-trials.ts';

const nameCredentials = createCredentialNames(Buffer.alloc(32, 1));

const GOOD: Credentials = {
  origin: 'https://a.example',
  pathPrefix: '',
  db: 'prod',
  userId: 2,
  apiKey: 'key-one',
  trust: null,
};
const TTL_MS = 10_000;

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
          lockout: () => 'none',
          sentMs: () => null,
        },
        calls.signal,
      ),
    advance: (ms: number) => {
      nowMs += ms;
    },
    endCalls: () => calls.abort(),
  };
}

function pass(outcome: Checked | Promise<Checked>): Ticket {
  if (outcome === 'refused' || outcome instanceof Promise || 'refused' in outcome)
    throw new Error('expected to pass at once');
  return outcome;
}

test('refuses what Odoo refused, until the time is over', async () => {
  const { check, advance } = setUp();
  pass(check(GOOD)).settle('refused');
  expect(check(GOOD)).toBe('refused');
  advance(TTL_MS - 1);
  expect(check(GOOD)).toBe('refused');
  advance(2);
  pass(check(GOOD));
});

test.each([
  ['server', { origin: 'https://b.example' }],
  ['path prefix', { pathPrefix: '/odoo' }],
  ['database', { db: 'test' }],
  ['user', { userId: 3 }],
  ['key', { apiKey: 'key-two' }],
])('does not hold a refusal against another %s', (_what, change) => {
  const { check } = setUp();
  pass(check(GOOD)).settle('refused');
  pass(check({ ...GOOD, ...change }));
});

test('lets one call try new credentials and refuses the others once Odoo has refused them', async () => {
  const { check } = setUp();
  const first = pass(check(GOOD));
  const others = [check(GOOD), check(GOOD)];
  expect(others.every((other) => other instanceof Promise)).toBe(true);
  first.settle('refused');
  expect(await Promise.all(others)).toEqual(['refused', 'refused']);
});

test('lets all go once the first was let in, and later ones at once', async () => {
  const { check } = setUp();
  const first = pass(check(GOOD));
  const other = check(GOOD);
  first.settle('accepted');
  expect(await other).not.toBe('refused');
  pass(check(GOOD));
});

test('lets the others go where the first learnt nothing', async () => {
  const { check } = setUp();
  const first = pass(check(GOOD));
  const other = check(GOOD);
  first.settle('unknown');
  expect(await other).not.toBe('refused');
});

test('does not wait for ever for a first call that hangs', async () => {
  const { check } = setUp();
  pass(check(GOOD));
  expect(await check(GOOD)).not.toBe('refused');
});

test('ends the wait with the call', async () => {
  const { check, endCalls } = setUp();
  pass(check(GOOD));
  const other = check(GOOD);
  endCalls();
  expect(await other).not.toBe('refused');
});

test('puts credentials that Odoo had accepted on trial again after a refusal, which can be a method of its own', async () => {
  const { check } = setUp();
  pass(check(GOOD)).settle('accepted');
  pass(check(GOOD)).settle('refused');
  const trial = pass(check(GOOD));
  const other = check(GOOD);
  trial.settle('refused');
  expect(await other).toBe('refused');
  expect(check(GOOD)).toBe('refused');
});

test('believes a refusal more than an older success that comes in later', () => {
  const { check } = setUp();
  pass(check(GOOD)).settle('accepted');
  const slow = pass(check(GOOD));
  pass(check(GOOD)).settle('refused');
  pass(check(GOOD)).settle('refused');
  slow.settle('accepted');
  expect(check(GOOD)).toBe('refused');
});

test('remembers nothing when turned off', () => {
  const { check } = setUp(0);
  pass(check(GOOD)).settle('refused');
  pass(check(GOOD));
});

test('does not wait for a call whose time is over', async () => {
  const { check, endCalls } = setUp();
  pass(check(GOOD));
  endCalls();
  const started = performance.now();
  expect(await check(GOOD)).not.toBe('refused');
  expect(performance.now() - started).toBeLessThan(900);
});
