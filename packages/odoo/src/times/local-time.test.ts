import { expect, test } from 'vitest';
import { countCases } from '../../../server/test/random-cases.ts';
import { createRandom } from '../../../server/test/seeded-random.ts';
import { createTimePrinter } from './local-time.ts';

test.each([
  ['Europe/Brussels', '2026-05-31T22:00:00Z', '2026-06-01T00:00:00+02:00'],
  ['Europe/Brussels', '2026-10-25T00:59:59Z', '2026-10-25T02:59:59+02:00'],
  ['Europe/Brussels', '2026-10-25T01:00:00Z', '2026-10-25T02:00:00+01:00'],
  ['Europe/London', '2026-01-01T00:00:00Z', '2026-01-01T00:00:00+00:00'],
  ['America/New_York', '2027-01-01T04:00:00Z', '2026-12-31T23:00:00-05:00'],
  ['America/St_Johns', '2026-01-01T03:00:00Z', '2025-12-31T23:30:00-03:30'],
  ['Asia/Kathmandu', '2026-01-01T00:00:00Z', '2026-01-01T05:45:00+05:45'],
  ['UTC', '2026-05-31T22:00:00Z', '2026-05-31T22:00:00Z'],
])('in %s, %s is %s', (zone, time, local) => {
  expect(createTimePrinter(zone)(time)).toBe(local);
});

test.each([
  // The offset has seconds.
  ['Europe/Brussels', '1870-01-01T00:00:00Z'],
  ['Asia/Tokyo', '9999-12-31T23:00:00Z'],
  ['Asia/Tokyo', '2026-13-01T00:00:00Z'],
  // `Date` would convert this date into the 2nd of March.
  ['Asia/Tokyo', '2026-02-30T00:00:00Z'],
  ['Asia/Tokyo', '2026-05-31T24:00:00Z'],
  ['Asia/Tokyo', '2026-01-01 00:00:00'],
  ['Asia/Tokyo', '2026-01-01'],
  ['Asia/Tokyo', ''],
])('in %s, %j stays', (zone, time) => {
  expect(createTimePrinter(zone)(time)).toBe(time);
});

test('the printed time is the same moment, as the clocks of the zone show it', () => {
  const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000);
  process.stdout.write(`local times: seed ${seed}\n`);
  const random = createRandom(seed);
  const zones = Intl.supportedValuesOf('timeZone');
  for (let round = countCases(500); round > 0; round--) {
    const zone = zones[Math.floor(random() * zones.length)] as string;
    const ms = 1000 * Math.floor(Date.UTC(2000) / 1000 + random() * 40 * 366 * 86_400);
    const time = `${new Date(ms).toJSON().slice(0, 19)}Z`;
    const printed = createTimePrinter(zone)(time);
    expect(Date.parse(printed), `${zone} ${time} ${printed}`).toBe(ms);
    // Sweden writes times as ISO does.
    const format = new Intl.DateTimeFormat('sv-SE', {
      timeZone: zone,
      dateStyle: 'short',
      timeStyle: 'medium',
    });
    expect(printed.slice(0, 19).replace('T', ' '), `${zone} ${time}`).toBe(format.format(ms));
  }
});
