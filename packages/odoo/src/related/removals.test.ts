/** Which values remove records, by the types of fields. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { countCases } from '../../../server/test/random-cases.ts';
import { findRemoval, type LearntFields } from './removals.ts';

const FIELDS = new Map([
  ['lines', { type: 'one2many', relation: 'order' }],
  ['tags', { type: 'many2many', relation: 'order' }],
  ['blind', { type: 'one2many', relation: null }],
  ['partner', { type: 'many2one', relation: 'order' }],
  ['extra', { type: 'json', relation: null }],
  ['properties', { type: 'properties', relation: null }],
  ['definitions', { type: 'properties_definition', relation: null }],
]);
const LEARNT: LearntFields = {
  types: new Map([['order', FIELDS]]),
  asked: new Map([['order', new Set(['missing'])]]),
};

function find(text: string, model: string | null = 'order') {
  const bytes = Buffer.from(text);
  return findRemoval(bytes, { start: 0, end: bytes.length }, { model, learnt: LEARNT });
}

test.each([
  '{"lines": [[2, 1]]}',
  '[[1], {"lines": [[3, 1]]}]',
  '[[{"partner": 1}, {"lines": [[5]]}]]',
  '{"lines": [[6, 0, []]]}',
  '{"lines": [1, 2]}',
  '{"lines": null}',
  '{"lines": false}',
  '{"lines": {"set": []}}',
  '{"lines": [[7, 1]]}',
  '{"lines": [[0, 0, {"tags": [[0, 0, {"lines": [[5]]}]]}]]}',
  '{"tags": [[2, 1]]}',
  '{"tags": [[1, 1, {"lines": [[5]]}]]}',
  '{"blind": [[1, 1, {"any": [[5]]}]]}',
  '{"missing": [[5]]}',
  '{"missing": {"set": []}}',
  '{"li\\u006ees": [[5]]}',
  '{"properties": [{"name": "a", "type": "char", "definition_deleted": true}]}',
  '{"properties": [{"name": "a", "definition_ch\\u0061nged": 1}]}',
  '{"lines": [[1, 1, {"properties": [{"definition_deleted": true}]}]]}',
  '{"definitions": []}',
  '{"definitions": [{"name": "a", "type": "char"}]}',
])('removes: %s', (text) => {
  expect(find(text)).toBe(true);
});

test.each([
  '{"lines": []}',
  '{"lines": [[0, 0, {}], [1, 1, {}], [4, 1]]}',
  '{"tags": [[3, 1], [5], [6, 0, []]]}',
  '{"tags": null}',
  '{"partner": null}',
  '{"partner": [[5]]}',
  '{"extra": {"lines": [[5]]}}',
  '{"missing": null}',
  '{"missing": 5}',
  '{"properties": [{"name": "a", "value": 1, "definition_changed": false, "definition_deleted": null}]}',
])('removes nothing: %s', (text) => {
  expect(find(text)).toBe(false);
});

test('fields whose types are not known are told', () => {
  expect(find('{"other": 1, "lines": [[0, 0, {"more": 2}]]}')).toEqual(
    new Map([['order', new Set(['other', 'more'])]]),
  );
});

test('members of a value that is no list of records are no fields', () => {
  expect(find('{"lines": [[0, 0, {"extra": [[0, 0, {"lines": [[5]]}]]}]]}')).toBe(false);
});

test('in a context, only defaults are values', () => {
  expect(find('{"default_lines": [[5]]}', null)).toBe(true);
  expect(find('{"default_user": false, "active_ids": [5], "lines": [[5]]}', null)).toBe(false);
});

/** Whether the values remove records, found by reading the decoded values. */
function removes(values: object): boolean {
  return Object.entries(values).some(([name, value]) => {
    const type = FIELDS.get(name)?.type;
    if (type !== 'one2many' && type !== 'many2many') return false;
    if (!Array.isArray(value)) return type === 'one2many' && (value === null || value === false);
    return value.some((command) => {
      const [code, , below] = command;
      if (code === 2 || (type === 'one2many' && [3, 5, 6].includes(code))) return true;
      return code <= 1 && removes(below);
    });
  });
}

test('nested commands are checked as a plain reading of them does', () => {
  const { values } = fc.letrec((tie) => ({
    values: fc.dictionary(
      fc.constantFrom('lines', 'tags', 'partner', 'extra'),
      fc.oneof({ maxDepth: 3 }, fc.constantFrom(null, false, 1), tie('commands')),
      { maxKeys: 3 },
    ),
    commands: fc.array(
      fc.oneof(
        { maxDepth: 3 },
        fc.tuple(fc.constantFrom(3, 4, 5, 6), fc.nat(9), fc.constantFrom([], [1])),
        fc.constant([2, 1, 0]),
        fc.tuple(fc.constantFrom(0, 1), fc.nat(9), tie('values')),
      ),
      { maxLength: 3 },
    ),
  }));
  fc.assert(
    fc.property(values, (given) => {
      expect(find(JSON.stringify(given))).toBe(removes(given as object));
    }),
    { numRuns: countCases(300) },
  );
});
