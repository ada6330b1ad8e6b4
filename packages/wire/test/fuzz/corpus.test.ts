/** No input of earlier runs of `npm run fuzz` shows a fault. */
import { expect, test } from 'vitest';
import { ALL_TARGETS } from './all-targets.ts';
import { readCorpus } from './corpus.ts';

test.each(ALL_TARGETS)('no known input shows a fault: $folder, $name', async (target) => {
  const inputs = [...target.seeds.map((seed) => Buffer.from(seed, 'latin1')), ...readCorpus(target)];
  expect(inputs.length).toBeGreaterThan(target.seeds.length);
  for (const input of inputs) await target.run(input);
});
