/** A long result is converted in parts, so that the calls of others run between them. */

import { chain } from '@erp-proxy/async/streams';
import { ResultConverter } from '@erp-proxy/odoo/values';
import { expect, test } from 'vitest';
import { readText, ScriptedStream } from '../../../async/test/scripted-stream.ts';
import { convert, cut, shapeOf, TYPES } from '../../../server/test/values/printed-records.ts';
import { watchTurns } from '../../../server/test/watch-turns.ts';
import { ConvertedStream } from './convert-reading.ts';

/** As many bytes as one read of a socket takes. */
const PIECE_BYTES = 64 * 1024;
const RESULT = Buffer.from(
  `[${'{"partner_id": [10, "A"], "name": false}, '.repeat(30_000)}{"name": [${'"x", '.repeat(300_000)}1]}]`,
);
const CONVERTED = convert([RESULT.toString()]);

const startConverter = () => new ResultConverter(shapeOf(TYPES), 'list');
const learnNothing = async () => {};

/** Converts pieces that have all arrived. Returns the text, and how many at most were read in one turn. */
async function readInTurns(pieces: readonly Uint8Array[]) {
  const source = new ScriptedStream(...pieces, null);
  let before = 0;
  let most = 0;
  const text = await watchTurns(
    () => readText(new ConvertedStream(source, startConverter(), learnNothing)),
    () => {
      most = Math.max(most, source.readCount - before);
      before = source.readCount;
    },
  );
  return { text, most };
}

test('pieces that arrive at once are converted in turns of their own', async () => {
  const pieces = cut(RESULT, Array<number>(Math.floor(RESULT.length / PIECE_BYTES)).fill(PIECE_BYTES));
  const { text, most } = await readInTurns(pieces);
  expect(text).toBe(CONVERTED);
  expect(most).toBeLessThanOrEqual(1 + 1);
});

test('so are few of many small pieces, for each of which the kept bytes are read again', async () => {
  const bytes = Buffer.from(`[{"partner_id": [10, "${'a'.repeat(8000)}"]}]`);
  const { text, most } = await readInTurns(cut(bytes, Array<number>(bytes.length - 1).fill(1)));
  expect(text).toBe(convert([bytes]));
  expect(most).toBeLessThanOrEqual(4 + 1);
});

test('a whole result is converted in parts', async () => {
  let turns = 0;
  const converted = await watchTurns(
    () => readText(new ConvertedStream(chain([RESULT], null), startConverter(), learnNothing)),
    () => turns++,
  );
  expect(converted).toBe(CONVERTED);
  expect(turns).toBeGreaterThanOrEqual(Math.floor(RESULT.length / PIECE_BYTES));
});

test('a pause is kept at a field whose type is not known', async () => {
  const pieces = Array.from({ length: 64 }, (_, index) => {
    const row = `{"x_${index}": "${'x'.repeat(PIECE_BYTES - 100)}"}`;
    return Buffer.from(`${index === 0 ? '[' : ','}${row}`.padEnd(PIECE_BYTES));
  });
  const { most } = await readInTurns([...pieces, Buffer.from(']')]);
  expect(most).toBeLessThanOrEqual(1 + 1);
});
