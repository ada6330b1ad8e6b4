import { PassThrough, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { countCases } from '../../test/random-cases.ts';
import { joinOutput } from './workers.ts';

test("passes on whole lines, however the workers' output is split and mixed", async () => {
  const line = fc.string({ unit: 'binary', maxLength: 20 }).map((it) => it.replaceAll('\n', ' '));
  const cuts = fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1 });
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(line), { maxLength: 4 }), cuts, async (workers, sizes) => {
      const destination = new PassThrough({ highWaterMark: 16 });
      const add = joinOutput(destination);
      const taken = text(destination);
      const sources = workers.map((lines, worker) => {
        const source = new PassThrough();
        add(source);
        return { source, left: Buffer.from(lines.map((it) => `${worker}${it}\n`).join('')) };
      });
      for (let round = 0; sources.some(({ left }) => left.length > 0); round++) {
        for (const it of sources) {
          const size = sizes[round % sizes.length] as number;
          it.source.write(it.left.subarray(0, size));
          it.left = it.left.subarray(size);
        }
        await nextTurn();
      }
      for (const { source } of sources) source.end();
      await Promise.all(sources.map(({ source }) => new Promise((resolve) => source.once('end', resolve))));
      destination.end();
      const lines = (await taken).split('\n').slice(0, -1);
      for (const [worker, own] of workers.entries()) {
        expect(lines.filter((it) => it.startsWith(`${worker}`))).toEqual(own.map((it) => `${worker}${it}`));
      }
      expect(lines).toHaveLength(workers.flat().length);
    }),
    { numRuns: countCases(50) },
  );
});

test('pauses workers while the reader is slow, and resumes them after an error', async () => {
  const destination = new Writable({ highWaterMark: 1, write() {} }).on('error', () => {});
  const source = new PassThrough();
  joinOutput(destination)(source);
  source.write('one\n');
  await nextTurn();
  expect(source.isPaused()).toBe(true);
  destination.destroy(new Error('EPIPE'));
  await nextTurn();
  source.write('two\n');
  await nextTurn();
  expect([source.isPaused(), source.readableLength]).toEqual([false, 0]);
});
