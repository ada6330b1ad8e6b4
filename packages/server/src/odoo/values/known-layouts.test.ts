import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { convert, shapeOf, TYPES } from '../../../test/values/printed-records.ts';
import { collectGarbage } from '../../sharing/collect-garbage.fixture.ts';
import { ConversionMemory } from './conversion-memory.ts';
import type { RecordShape } from './record-shape.ts';

const SHAPE: RecordShape = { ...shapeOf(TYPES), names: ['name', 'stamp'] };
const RESULT =
  '[{"id": 1, "name": false, "stamp": "2026-10-21 01:31:00"}, {"id": 2, "name": "A", "stamp": false}]';
const CONVERTED =
  '[{"id": 1, "name": null, "stamp": "2026-10-21T01:31:00Z"}, {"id": 2, "name": "A", "stamp": null}]';

/** Converts a result, and returns how many members the next result of the shape finds known. */
function countKnown(
  result: string,
  { shape = SHAPE, next = shape }: { shape?: RecordShape; next?: RecordShape } = {},
): number {
  const memory = new ConversionMemory(null);
  convert([result], 'list', shape, memory);
  return memory.layouts.take(next).slots.length;
}

test('the members of a result are known in the next one of the same fields', () => {
  expect(countKnown(RESULT)).toBe(3);
});

test('both results have the same values', () => {
  const memory = new ConversionMemory(null);
  expect(convert([RESULT], 'list', SHAPE, memory)).toBe(CONVERTED);
  expect(convert([RESULT], 'list', SHAPE, memory)).toBe(CONVERTED);
});

test('two results at the same time do not share a layout', () => {
  const memory = new ConversionMemory(null);
  convert([RESULT], 'list', SHAPE, memory);
  expect(memory.layouts.take(SHAPE).slots).toHaveLength(3);
  expect(memory.layouts.take(SHAPE).slots).toHaveLength(0);
});

test('the types of the fields are not kept', async () => {
  const memory = new ConversionMemory(null);
  const useTypes = () => {
    const types = new Map(TYPES);
    convert([RESULT], 'list', { ...SHAPE, types }, memory);
    return new WeakRef(types);
  };
  const types = useTypes();
  // A reference that was read in this turn of the event loop keeps its object.
  await nextTurn();
  collectGarbage('major');
  expect(types.deref()).toBeUndefined();
});

describe('nothing is known', () => {
  test.each<[string, string, { shape?: RecordShape; next?: RecordShape }?]>([
    ['of a call that names other fields', RESULT, { next: { ...SHAPE, names: ['name'] } }],
    ['once the types are others', RESULT, { next: { ...SHAPE, types: new Map(TYPES) } }],
    ['after a field without a type, which may get one', '[{"id": 1, "unknown": 2}]'],
    ['after records that differ', '[{"id": 1, "name": "A"}, {"id": 2}]'],
    ['after a result that broke off', RESULT.slice(0, -20)],
    ['of records in records', RESULT, { shape: { ...SHAPE, nested: new Map([['name', SHAPE]]) } }],
    ['after more than 64 members', `[{${Array.from({ length: 65 }, () => '"name": 1').join(', ')}}]`],
    ['after names with much white space', `[{"id": 1,${' '.repeat(300)}"name": 1}]`],
    ['of calls with long names', RESULT, { shape: { ...SHAPE, names: ['x'.repeat(5000)] } }],
  ])('%s', (_, result, shapes) => {
    expect(countKnown(result, shapes)).toBe(0);
  });
});
