import { expect, test } from 'vitest';
import { openEnvironment } from '../../test/open-environment.ts';
import type { Version } from '../versions/personality.ts';

/** The activities that are due from a moment on, out of activities of three days. */
function findDue(version: Version, bound: string, operator = '>='): string[] {
  const { environment, call, search } = openEnvironment(version, { clock: () => Date.UTC(2026, 10, 21, 9) });
  const days = [-10, 0, 10].map((count) => environment.timeIn(count * 86_400_000).slice(0, 10));
  for (const date_deadline of days)
    call('mail.activity', 'create', [
      { res_model: 'res.partner', res_id: 9, summary: date_deadline, date_deadline },
    ]);
  const found = search('mail.activity', [['date_deadline', operator, bound]]);
  const names = ['past', 'today', 'future'];
  return found.map((id) => {
    const row = environment.store.get('mail.activity', id);
    return names[days.indexOf(String(row?.['summary']))] ?? '';
  });
}

test.each([
  [18, 'today', ['today', 'future']],
  [18, 'yesterday', ['today', 'future']],
  [18, 'tomorrow', ['future']],
  [19, 'today', ['today', 'future']],
  [19, 'today -1w', ['today', 'future']],
  [19, 'today -1m +1d', ['past', 'today', 'future']],
  [19, '+3d', ['future']],
] as const)('%i finds what is due from %s on', (version, bound, due) => {
  expect(findDue(version, bound)).toEqual(due);
});

test.each([
  [18, '-7d', 'psycopg2.errors.InvalidDatetimeFormat'],
  [18, 'today -3650d', 'psycopg2.errors.InvalidTimeZoneDisplacementValue'],
  [18, '2026', 'psycopg2.errors.InvalidDatetimeFormat'],
  [19, 'yesterday', "Invalid term 'yesterday' in expression date: 'yesterday'"],
  [19, '2026-01', "Invalid isoformat string: '2026-01'"],
  [19, '', 'Empty date value'],
  // Terms that Odoo takes.
  [18, 'epoch', 'The sandbox does not read the date epoch'],
  [18, 'Jan 1 2026', 'The sandbox does not read the date Jan 1 2026'],
  [19, 'today =monday', 'The sandbox does not read the date today =monday'],
] as const)('%i refuses %j', (version, bound, message) => {
  expect(() => findDue(version, bound)).toThrow(expect.toSatisfy((error) => String(error).includes(message)));
});
