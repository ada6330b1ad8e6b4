import { expect, test } from 'vitest';
import { countCases } from '../../../server/test/random-cases.ts';
import { createRandom } from '../../../server/test/seeded-random.ts';
import { createDayFinder } from './local-day.ts';

test.each([
  ['UTC', '2026-05-01', '2026-05-01 00:00:00', '2026-05-02 00:00:00'],
  ['Europe/Brussels', '2026-05-01', '2026-04-30 22:00:00', '2026-05-01 22:00:00'],
  ['Europe/Brussels', '2026-03-29', '2026-03-28 23:00:00', '2026-03-29 22:00:00'],
  ['Europe/Brussels', '2026-10-25', '2026-10-24 22:00:00', '2026-10-25 23:00:00'],
  ['Asia/Kathmandu', '2026-05-01', '2026-04-30 18:15:00', '2026-05-01 18:15:00'],
  ['America/New_York', '2026-12-31', '2026-12-31 05:00:00', '2027-01-01 05:00:00'],
  // Midnight is skipped.
  ['America/Sao_Paulo', '2018-11-04', '2018-11-04 03:00:00', '2018-11-05 02:00:00'],
  // The hour before midnight comes twice.
  ['America/Sao_Paulo', '2018-02-17', '2018-02-17 02:00:00', '2018-02-18 03:00:00'],
  // The hour after midnight comes twice.
  ['America/Havana', '2026-11-01', '2026-11-01 04:00:00', '2026-11-02 05:00:00'],
  // The whole day is skipped.
  ['Pacific/Apia', '2011-12-30', '2011-12-30 10:00:00', '2011-12-30 10:00:00'],
  ['Pacific/Apia', '2011-12-31', '2011-12-30 10:00:00', '2011-12-31 10:00:00'],
])('in %s, %s begins and ends', (zone, day, from, to) => {
  expect(createDayFinder(zone)(day)).toEqual({ from, to });
});

test('the beginning is the first second of the day, and the end that of the next one', () => {
  const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000);
  process.stdout.write(`local days: seed ${seed}\n`);
  const random = createRandom(seed);
  const pick = <Item>(items: readonly Item[]) => items[Math.floor(random() * items.length)]!;
  const zones = Intl.supportedValuesOf('timeZone');
  for (let round = countCases(300); round > 0; round--) {
    const zone = pick(zones);
    const day = new Date(Date.UTC(2000, 0, 1 + Math.floor(random() * 12_000))).toJSON().slice(0, 10);
    const { from, to } = createDayFinder(zone)(day);
    // Sweden writes dates as ISO does.
    const format = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short' });
    const print = (time: string, seconds: number) =>
      format.format(Date.parse(`${time.replace(' ', 'T')}Z`) + seconds * 1000);
    const shown = { zone, day, from, to };
    expect(print(from, 0) >= day, JSON.stringify(shown)).toBe(true);
    expect(print(from, -1) < day, JSON.stringify(shown)).toBe(true);
    expect(print(to, 0) > day, JSON.stringify(shown)).toBe(true);
    expect(print(to, -1) <= day, JSON.stringify(shown)).toBe(true);
  }
});
