/**
 * Fuzzes what reads bytes of others: HTTP, JSON, policies and answers of Odoo, guided by coverage:
 *
 *     npm run fuzz -- [--seconds 600] [--target NAME] [--seed N] [--cases N] [--keep]
 *
 * It prints the seed and the number of cases of each target, which repeat a run. An input that shows a wrong behaviour
 * is printed, and added to the corpus, with which each further run begins: `test/corpus` of the package. `--keep` adds
 * the inputs that run further blocks, and removes those that show nothing of their own.
 *
 * Ends with 1 if a behaviour was wrong.
 */
import { parseArgs } from 'node:util';
import { createRandom } from '../packages/server/test/seeded-random.ts';
import { ALL_TARGETS } from '../packages/wire/test/fuzz/all-targets.ts';
import { addToCorpus, readCorpus, writeCorpus } from '../packages/wire/test/fuzz/corpus.ts';
import { Coverage } from '../packages/wire/test/fuzz/coverage.ts';
import { fuzz } from '../packages/wire/test/fuzz/fuzz.ts';

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '600' },
    target: { type: 'string' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    cases: { type: 'string' },
    keep: { type: 'boolean', default: false },
  },
});

/** Length of what is shown of a fault. */
const SHOWN_LENGTH_MAX = 2000;

const targets = ALL_TARGETS.filter(({ name }) => options.target === undefined || name === options.target);
if (targets.length === 0) {
  const names = ALL_TARGETS.map(({ name }) => name).join(', ');
  throw new Error(`--target "${options.target}" is no target; there are ${names}.`);
}
const seed = readNumber('seed', options.seed);
const msEach = (readNumber('seconds', options.seconds) * 1000) / targets.length;
const casesMax = options.cases === undefined ? Number.POSITIVE_INFINITY : readNumber('cases', options.cases);
for (const target of targets) {
  const startedMs = performance.now();
  const { name, folder } = target;
  const coverage = new Coverage((url) => url.includes(`/packages/${folder}/src/`));
  const { cases, features, corpus, failure } = await fuzz(target, {
    coverage,
    random: createRandom(seed),
    corpus: readCorpus(target),
    mayContinue: (count) => count < casesMax && performance.now() - startedMs < msEach,
  });
  console.log(`${name}: seed ${seed}, ${cases} cases, ${features} features, ${corpus.length} inputs kept`);
  if (failure !== null) {
    console.error(`${name} failed at ${JSON.stringify(failure.input.toString('latin1'))}`);
    console.error(String(failure.error).slice(0, SHOWN_LENGTH_MAX));
    addToCorpus(target, failure.input);
    process.exitCode = 1;
  } else if (options.keep) writeCorpus(target, corpus);
}

function readNumber(name: string, text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new Error(`--${name} "${text}" is no whole number.`);
  return Number(text);
}
