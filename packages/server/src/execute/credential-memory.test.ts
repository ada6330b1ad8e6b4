import { expect, it } from 'vitest';
import { type Credentials, createCredentialMemory, type Ticket } from './credential-memory.ts';

const GOOD: Credentials = {
  origin: 'https://a.example',
  pathPrefix: '',
  db: 'prod',
  userId: 2,
  apiKey: 'key-one',
};
const TTL_MS = 10_000;

function setUp(ttlMs = TTL_MS) {
  let nowMs = 1000;
  const memory = createCredentialMemory(ttlMs, () => nowMs);
  return { memory, advance: (ms: number) => (nowMs += ms) };
}

function pass(outcome: Ticket | 'refused' | Promise<Ticket | 'refused'>): Ticket {
  if (outcome === 'refused' || outcome instanceof Promise) throw new Error('expected to pass at once');
  return outcome;
}

it('refuses what Odoo refused, until the time is over', async () => {
  const { memory, advance } = setUp();
  pass(memory.check(GOOD)).settle('refused');
  expect(memory.check(GOOD)).toBe('refused');
  advance(TTL_MS - 1);
  expect(memory.check(GOOD)).toBe('refused');
  advance(2);
  pass(memory.check(GOOD));
});

it.each([
  ['server', { origin: 'https://b.example' }],
  ['path prefix', { pathPrefix: '/odoo' }],
  ['database', { db: 'test' }],
  ['user', { userId: 3 }],
  ['key', { apiKey: 'key-two' }],
])('does not hold a refusal against another %s', (_what, change) => {
  const { memory } = setUp();
  pass(memory.check(GOOD)).settle('refused');
  pass(memory.check({ ...GOOD, ...change }));
});

it('lets one call try new credentials and refuses the others once Odoo has refused them', async () => {
  const { memory } = setUp();
  const first = pass(memory.check(GOOD));
  const others = [memory.check(GOOD), memory.check(GOOD)];
  expect(others.every((other) => other instanceof Promise)).toBe(true);
  first.settle('refused');
  expect(await Promise.all(others)).toEqual(['refused', 'refused']);
});

it('lets all go once the first was let in, and later ones at once', async () => {
  const { memory } = setUp();
  const first = pass(memory.check(GOOD));
  const other = memory.check(GOOD);
  first.settle('accepted');
  expect(await other).not.toBe('refused');
  pass(memory.check(GOOD));
});

it('lets the others go where the first learnt nothing', async () => {
  const { memory } = setUp();
  const first = pass(memory.check(GOOD));
  const other = memory.check(GOOD);
  first.settle('unknown');
  expect(await other).not.toBe('refused');
});

it('does not wait for ever for a first call that hangs', async () => {
  const { memory } = setUp();
  pass(memory.check(GOOD));
  expect(await memory.check(GOOD)).not.toBe('refused');
});

it('believes a refusal more than an older success that comes in later', () => {
  const { memory } = setUp();
  pass(memory.check(GOOD)).settle('accepted');
  const slow = pass(memory.check(GOOD));
  pass(memory.check(GOOD)).settle('refused');
  slow.settle('accepted');
  expect(memory.check(GOOD)).toBe('refused');
});

it('remembers nothing when turned off', () => {
  const { memory } = setUp(0);
  pass(memory.check(GOOD)).settle('refused');
  pass(memory.check(GOOD));
});
