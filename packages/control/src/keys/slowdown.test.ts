import { expect, test } from 'vitest';
import { createSlowdown } from './slowdown.ts';

function open() {
  const time = { now: 1_000_000 };
  const slowdown = createSlowdown({ clock: () => time.now });
  const penalize = (address: string, times = 1) =>
    Array.from({ length: times }, () => slowdown.penalize(address)).at(-1);
  return { time, penalize };
}

test('the first five invalid keys are not delayed; the delay of further ones grows up to two seconds', () => {
  const { penalize } = open();
  const delays = Array.from({ length: 11 }, () => penalize('203.0.113.7'));
  expect(delays).toEqual([0, 0, 0, 0, 0, 250, 500, 1000, 2000, 2000, 2000].map((delayMs) => ({ delayMs })));
});

test('one address does not delay another', () => {
  const { penalize } = open();
  penalize('203.0.113.7', 50);
  expect(penalize('203.0.113.8')).toEqual({ delayMs: 0 });
  expect(penalize('2001:db8::7')).toEqual({ delayMs: 0 });
});

test.each([
  ['addresses of one IPv6 /64', '2001:db8:1:2::1', '2001:db8:1:2:ffff:ffff:ffff:ffff'],
  ['an IPv4 address and its mapped form', '203.0.113.7', '::ffff:203.0.113.7'],
  ['an IPv4 address and its mapped form in hex', '203.0.113.7', '::ffff:cb00:7107'],
  ['two spellings of one address', '2001:DB8:0::1', '2001:db8::1'],
  ['an address with and without its zone', 'fe80::1', 'fe80::1%eth0'],
  ['texts that are not addresses', '', 'x'.repeat(100_000)],
])('counts %s together', (_, one, other) => {
  const { penalize } = open();
  penalize(one, 8);
  expect(penalize(other)).toEqual({ delayMs: 2000 });
});

test.each([
  ['2001:db8:1:2::1', '2001:db8:1:3::1'],
  ['::ffff:203.0.113.7', '::ffff:203.0.113.8'],
  ['0.0.0.1', '::1'],
])('counts %s and %s apart', (one, other) => {
  const { penalize } = open();
  penalize(one, 8);
  expect(penalize(other)).toEqual({ delayMs: 0 });
});

test('one failure expires every ten seconds', () => {
  const { time, penalize } = open();
  penalize('203.0.113.7', 8);
  time.now += 30_000;
  expect(penalize('203.0.113.7')).toEqual({ delayMs: 250 });
  time.now += 10_000;
  expect(penalize('203.0.113.7')).toEqual({ delayMs: 250 });
});

test('all failures have expired 200 seconds after an attack of any length', () => {
  const { time, penalize } = open();
  for (let round = 0; round < 5000; round++) {
    time.now += 100;
    penalize('203.0.113.7');
  }
  time.now += 200_000;
  expect(penalize('203.0.113.7', 5)).toEqual({ delayMs: 0 });
});

test('no failure expires because the clock was set back', () => {
  const { time, penalize } = open();
  penalize('203.0.113.7', 8);
  time.now -= 3_600_000;
  expect(penalize('203.0.113.7')).toEqual({ delayMs: 2000 });
});

test('at most 256 answers wait at a time; others get 429 at once', () => {
  const { time, penalize } = open();
  penalize('203.0.113.7', 5);
  expect(penalize('203.0.113.7', 256)).toEqual({ delayMs: 2000 });
  expect(penalize('203.0.113.7')).toEqual({ retryAfterSeconds: 2 });
  time.now += 249;
  expect(penalize('203.0.113.7')).toEqual({ retryAfterSeconds: 2 });
  time.now += 1;
  expect(penalize('203.0.113.7')).toEqual({ delayMs: 2000 });
  expect(penalize('203.0.113.7')).toEqual({ retryAfterSeconds: 2 });
  time.now += 2000;
  expect(penalize('203.0.113.7', 256)).toEqual({ delayMs: 2000 });
});

test('the first invalid keys of an address are answered even while 256 answers wait', () => {
  const { penalize } = open();
  penalize('203.0.113.7', 300);
  expect(penalize('203.0.113.8')).toEqual({ delayMs: 0 });
});

test('the least recent address is dropped after 10,000 others', () => {
  const { penalize } = open();
  penalize('203.0.113.7', 8);
  for (let index = 0; index < 9999; index++) penalize(`10.0.${index >> 8}.${index & 255}`);
  expect(penalize('203.0.113.7')).toEqual({ delayMs: 2000 });
  for (let index = 0; index < 10_000; index++) penalize(`10.1.${index >> 8}.${index & 255}`);
  expect(penalize('203.0.113.7')).toEqual({ delayMs: 0 });
});
