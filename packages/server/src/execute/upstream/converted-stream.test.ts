/** A long result is converted in slices, so that the calls of others run between them. */
import { expect, test } from 'vitest';
import { convert, cut, shapeOf, TYPES } from '../../../test/values/printed-records.ts';
import { watchTurns } from '../../../test/watch-turns.ts';
import { ResultConverter } from '../../odoo/values/result-converter.ts';
import { readText, ScriptedStream } from '../../streams/scripted-stream.fixture.ts';
import { ConvertedStream, convertWhole } from './converted-stream.ts';

/** As many bytes as one read of a socket takes. */
const PIECE_BYTES = 64 * 1024;
const SLICE_BYTES = PIECE_BYTES;
const RESULT = Buffer.from(
  `[${'{"partner_id": [10, "A"], "name": false}, '.repeat(30_000)}{"name": [${'"x", '.repeat(300_000)}1]}]`,
);
const CONVERTED = convert([RESULT.toString()]);

function learn(): never {
  throw new Error('all fields are known');
}

function makeConverter(): ResultConverter {
  return new ResultConverter(shapeOf(TYPES), 'list');
}

test('pieces that arrive at once are converted in slices', async () => {
  const pieces = cut(RESULT, Array<number>(Math.floor(RESULT.length / PIECE_BYTES)).fill(PIECE_BYTES));
  const source = new ScriptedStream(...pieces, null);
  let before = 0;
  let most = 0;
  const text = await watchTurns(
    () => readText(new ConvertedStream([], source, makeConverter(), learn)),
    () => {
      most = Math.max(most, source.readCount - before);
      before = source.readCount;
    },
  );
  expect(text).toBe(CONVERTED);
  expect(most).toBeLessThanOrEqual(SLICE_BYTES / PIECE_BYTES + 1);
});

test('a whole result is converted in slices', async () => {
  let turns = 0;
  const converted = await watchTurns(
    () => convertWhole(makeConverter(), RESULT, learn),
    () => turns++,
  );
  expect(Buffer.from(converted).toString()).toBe(CONVERTED);
  expect(turns).toBeGreaterThanOrEqual(Math.floor(RESULT.length / SLICE_BYTES));
});
