/** For tests of protection: starts a proxy in front of an upstream whose answer depends on a word in the call. */
import { printCall, printInstance } from '../execute/expectations.ts';
import type { Proxy as ErpProxy } from '../harness.ts';
import { type Pair, startPair } from '../pair.ts';
import { answerLikeOdoo, answerTrue, printResult, type Script } from '../scripted-upstream.ts';
import { pause } from '../time.ts';

/** Larger than all buffers on the way. */
const LARGE = printResult(`"${'x'.repeat(48 * 1024 * 1024)}"`);
/** The largest answer that a batch buffers. */
const MEDIUM = printResult(`"${'x'.repeat(255 * 1024)}"`);

/** Longer than the shortest time limit of a call. */
const LATE_MS = 2000;

/** `hang`: no answer. `large`, `medium`: an answer of that size. `late`: an answer after two seconds. */
const answerWord: Script = async (socket, request, index) => {
  if (request.body.includes('hang')) return;
  if (request.body.includes('large')) return answerLikeOdoo(socket, LARGE);
  if (request.body.includes('medium')) return answerLikeOdoo(socket, MEDIUM);
  if (request.body.includes('late')) await pause(LATE_MS);
  return answerTrue(socket, request, index);
};

export interface WordPair extends Pair {
  /** A read with the word in its parameters. */
  print(word: string): string;
}

export async function startWordPair(settings: Record<string, string> = {}): Promise<WordPair> {
  const pair = await startPair(answerWord, { settings });
  const erp_instance = printInstance(pair.upstream.url);
  return {
    ...pair,
    print: (word) => printCall('', { action: '"search"', params: `[["${word}"]]`, erp_instance }),
  };
}

/** Makes headers with a new client key, for calls that do not share answers. */
export async function makeKeyHeaders({ app }: ErpProxy): Promise<Record<string, string>> {
  const { key } = await app.keys.create({ name: 'app' });
  return { 'cache-control': 'no-cache', 'x-proxy-api': key };
}

/** The state of the only database. */
export const readState = ({ app }: ErpProxy) => app.databaseLimiters.states()[0];
