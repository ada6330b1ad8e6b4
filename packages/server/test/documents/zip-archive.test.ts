import { ZipArchive } from '@erp-proxy/data/testing';
import fc from 'fast-check';
import { unzipSync } from 'fflate';
import { expect, test } from 'vitest';
import { countCases } from '../random-cases.ts';

/** Writes files, each in the given pieces. */
function write(files: readonly { name: string; pieces: readonly Uint8Array[] }[]): Uint8Array {
  const archive = new ZipArchive();
  const bytes = files.flatMap(({ name, pieces }) => {
    const head = archive.begin(name);
    for (const piece of pieces) archive.take(piece);
    return [head, ...pieces, archive.finishFile()];
  });
  return new Uint8Array(Buffer.concat([...bytes, archive.finish()]));
}

test('any files in any pieces are read as they were', () => {
  const name = fc.string({ minLength: 1, maxLength: 20, unit: fc.constantFrom(...'abc.é漢 -') });
  const pieces = fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 5 });
  fc.assert(
    fc.property(fc.array(fc.record({ name, pieces }), { maxLength: 8 }), (files) => {
      const read = Object.values(unzipSync(write(files)));
      expect(read.map((file) => Buffer.from(file))).toEqual(files.map((file) => Buffer.concat(file.pieces)));
    }),
    { numRuns: countCases(200) },
  );
});

test('files with the same name get numbers', () => {
  const files = ['a.pdf', 'a.pdf', 'b', 'a.pdf', 'b'].map((name) => ({ name, pieces: [Buffer.from(name)] }));
  expect(Object.keys(unzipSync(write(files)))).toEqual(['a.pdf', 'a (2).pdf', 'b', 'a (3).pdf', 'b (2)']);
});
