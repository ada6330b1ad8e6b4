/** A long result is converted in slices, so that the calls of others run between them. */
import { expect, test } from 'vitest';
import { convert, cut, shapeOf, TYPES } from '../../../test/values/printed-records.ts';
import { watchTurns } from '../../../test/watch-turns.ts';
import { ResultConverter } from '../../odoo/values/result-converter.ts';
import { readText, ScriptedStream } from '../../streams/scripted-stream.fixture.ts';
import { ConvertedStream, convertWhole } from './converted-stream.ts';
import { SlicedConverter } from './sliced-converter.ts';

/** As many bytes as one read of a socket takes. */
const PIECE_BYTES = 64 * 1024;
const SLICE_BYTES = 4 * PIECE_BYTES;
const RESULT = Buffer.from(
  `[${'{"partner_id": [10, "A"], "name": false}, '.repeat(30_000)}{"name": [${'"x", '.repeat(300_000)}1]}]`,
);
const CONVERTED = convert([RESULT.toString()]);

function learn(): never {
  throw new Error('all fields are known');
}

/** Each look at the clock, two for each piece, is `tickMs` later. */
function makeConverter(tickMs = 0): SlicedConverter {
  let nowMs = 0;
  return new SlicedConverter(new ResultConverter(shapeOf(TYPES), 'list'), learn, () => {
    nowMs += tickMs;
    return nowMs;
  });
}

/** Converts pieces that have all arrived. Returns how many at most were read in one turn. */
async function countPiecesInTurn(converter: SlicedConverter): Promise<number> {
  const pieces = cut(RESULT, Array<number>(Math.floor(RESULT.length / PIECE_BYTES)).fill(PIECE_BYTES));
  const source = new ScriptedStream(...pieces, null);
  let before = 0;
  let most = 0;
  const text = await watchTurns(
    () => readText(new ConvertedStream([], source, converter)),
    () => {
      most = Math.max(most, source.readCount - before);
      before = source.readCount;
    },
  );
  expect(text).toBe(CONVERTED);
  return most;
}

test('pieces that arrive at once are converted in slices', async () => {
  expect(await countPiecesInTurn(makeConverter())).toBeLessThanOrEqual(SLICE_BYTES / PIECE_BYTES + 1);
});

test('a slice also ends after 5 ms of conversion', async () => {
  expect(await countPiecesInTurn(makeConverter(2))).toBeLessThanOrEqual(3 + 1);
  expect(await countPiecesInTurn(makeConverter(6))).toBeLessThanOrEqual(1 + 1);
});

test('a whole result is converted in slices', async () => {
  let turns = 0;
  const converted = await watchTurns(
    () => convertWhole(makeConverter(), RESULT),
    () => turns++,
  );
  expect(Buffer.from(converted).toString()).toBe(CONVERTED);
  expect(turns).toBeGreaterThanOrEqual(Math.floor(RESULT.length / SLICE_BYTES));
});

test('so is one whose conversion takes long', async () => {
  let turns = 0;
  await watchTurns(
    () => convertWhole(makeConverter(6), RESULT),
    () => turns++,
  );
  expect(turns).toBeGreaterThanOrEqual(Math.floor(RESULT.length / PIECE_BYTES));
});

test('a pause is kept at a field whose type is not known', async () => {
  const pieces = Array.from({ length: 64 }, (_, index) => {
    const row = `{"x_${index}": "${'x'.repeat(PIECE_BYTES - 100)}"}`;
    return Buffer.from(`${index === 0 ? '[' : ','}${row}`.padEnd(PIECE_BYTES));
  });
  const source = new ScriptedStream(...pieces, ']', null);
  const shape = shapeOf(TYPES);
  const converter = new SlicedConverter(
    new ResultConverter(shape, 'list'),
    async () => shape,
    () => 0,
  );
  let before = 0;
  let most = 0;
  await watchTurns(
    () => readText(new ConvertedStream([], source, converter)),
    () => {
      most = Math.max(most, source.readCount - before);
      before = source.readCount;
    },
  );
  expect(most).toBeLessThanOrEqual(SLICE_BYTES / PIECE_BYTES + 1);
});
