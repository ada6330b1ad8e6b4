/** A thread that fuzzes one target. The coverage of a thread with few modules is read fast. */
import { parentPort, workerData } from 'node:worker_threads';
import { createRandom } from '../../../server/test/seeded-random.ts';
import { readPlainRequest } from '../../src/server/plain-call.ts';
import { Coverage } from './coverage.ts';
import { type FuzzTarget, fuzz } from './fuzz.ts';
import { failAtWord } from './nested-checks.fixture.ts';
import { fuzzPlainRequests, TARGETS } from './targets.ts';

/** What is fuzzed: targets with a planted fault, and one of those that have none. */
export type Searched = 'nested checks' | 'blank for NUL' | 'chunks';

/** Bytes are texts in Latin-1. */
export interface Found {
  corpus: string[];
  features: number;
  failure: { input: string; message: string } | null;
}

function findTarget(searched: Searched): FuzzTarget {
  switch (searched) {
    case 'nested checks':
      return { name: searched, seeds: ['any'], words: [], run: failAtWord };
    case 'blank for NUL':
      return fuzzPlainRequests((bytes) =>
        readPlainRequest(Buffer.from(bytes.map((byte) => (byte === 0 ? 0x20 : byte)))),
      );
    case 'chunks':
      return TARGETS.find(({ name }) => name === searched)!;
  }
}

const { searched, casesMax }: { searched: Searched; casesMax: number } = workerData;
const { corpus, features, failure } = await fuzz(findTarget(searched), {
  coverage: new Coverage((url) => /\/packages\/wire\/(src|test\/fuzz\/nested)/.test(url)),
  random: createRandom(1),
  corpus: [],
  mayContinue: (cases) => cases < casesMax,
});
const found: Found = {
  corpus: corpus.map((input) => input.toString('latin1')),
  features,
  failure: failure && { input: failure.input.toString('latin1'), message: String(failure.error) },
};
parentPort?.postMessage(found);
