import { type HeapProfiler, Session } from 'node:inspector/promises';
import { compileGlob } from '@erp-proxy/contract';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compileGlobs } from './compile-globs.ts';

const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 8 });
const pattern = fc.array(text, { minLength: 2, maxLength: 4 }).map((parts) => parts.join('*'));

test('the first of the patterns that match is found, however many there are', () => {
  fc.assert(
    fc.property(fc.array(pattern, { maxLength: 100 }), fc.array(text), (patterns, texts) => {
      const find = compileGlobs(patterns);
      for (const each of [...texts, 'abc'.repeat(500)]) {
        expect(find(each)).toBe(patterns.find((one) => compileGlob(one)(each)));
      }
    }),
  );
});

test('a name of any characters and length matches the patterns around it', () => {
  const others = Array.from({ length: 100 }, (_, index) => `other${index}*`);
  for (const name of ['é', 'ünï', '\u{1f600}\u{1f600}', 'name', 'n'.repeat(5000)]) {
    const find = compileGlobs([...others, `*${name}*`]);
    expect(find(`x_${name}_y`)).toBe(`*${name}*`);
    expect(find('something')).toBeUndefined();
  }
});

test('patterns that are used once cost less than 600 bytes each, with what is collected again', async () => {
  const policies = Array.from({ length: 70 }, (_, policy) =>
    Array.from({ length: 900 }, (_, index) => `x_p${policy}.model_${index}_*`),
  );
  const bytes = await measureAllocations(() => {
    for (const patterns of policies) compileGlobs(patterns)('res.partner');
  });
  expect(bytes / policies.flat().length).toBeLessThan(600);
});

/** Counts bytes by samples of the heap profiler, which include objects that are collected meanwhile. */
async function measureAllocations(work: () => void): Promise<number> {
  const session = new Session();
  session.connect();
  await session.post('HeapProfiler.startSampling', {
    samplingInterval: 4096,
    includeObjectsCollectedByMajorGC: true,
    includeObjectsCollectedByMinorGC: true,
  });
  work();
  const { profile } = await session.post('HeapProfiler.stopSampling');
  session.disconnect();
  const sum = ({ selfSize, children }: HeapProfiler.SamplingHeapProfileNode): number =>
    children.reduce((total, child) => total + sum(child), selfSize);
  return sum(profile.head);
}
