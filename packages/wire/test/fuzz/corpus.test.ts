/** No input of earlier runs of `npm run fuzz` shows a fault. */
import { expect, test } from 'vitest';
import { readCorpus } from './corpus.ts';
import { TARGETS } from './targets.ts';

test.each(TARGETS)('no known input shows a fault: $name', async (target) => {
  const inputs = [...target.seeds.map((seed) => Buffer.from(seed, 'latin1')), ...readCorpus(target.name)];
  expect(inputs.length).toBeGreaterThan(target.seeds.length);
  for (const input of inputs) await target.run(input);
});
