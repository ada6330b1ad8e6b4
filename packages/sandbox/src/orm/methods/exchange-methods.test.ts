import { expect, test } from 'vitest';
import { openEnvironment } from '../../../test/open-environment.ts';

test('load creates, changes and links by name; export_data returns the same values', () => {
  const { call } = openEnvironment();
  const fields = ['name', 'country_id', '.id'];
  const loaded: { ids: number[] } = call('res.partner', 'load', [
    fields.slice(0, 2),
    [['Loaded', 'Germany']],
  ]);
  expect(call('res.partner', 'load', [fields, [['Renamed', 'France', String(loaded.ids[0])]]])).toEqual({
    ids: loaded.ids,
    messages: [],
    nextrow: 0,
  });
  expect(call('res.partner', 'export_data', [loaded.ids, ['name', 'country_id/code', '.id']])).toEqual({
    datas: [['Renamed', 'FR', String(loaded.ids[0])]],
  });
});

test('a row that cannot be loaded is reported by its number, and no row is kept', () => {
  const { call, search } = openEnvironment();
  const rows = [
    ['Fine', 'Germany'],
    ['Bad', 'Atlantis'],
  ];
  expect(call('res.partner', 'load', [['name', 'country_id'], rows])).toMatchObject({
    ids: false,
    messages: [
      {
        type: 'error',
        record: 1,
        message: "No matching record found for name 'Atlantis' in field 'Country'",
      },
    ],
  });
  expect(search('res.partner', [['name', 'in', ['Fine', 'Bad']]])).toEqual([]);
});

test('a column cannot set a field of a linked record, and names no record by it', () => {
  const { call } = openEnvironment();
  expect(
    call('res.partner', 'load', [['name', 'country_id/currency_id/name'], [['Bad', 'Germany']]]),
  ).toMatchObject({
    ids: false,
    messages: [{ message: 'Can not create Many-To-One records indirectly, import the field separately' }],
  });
});
