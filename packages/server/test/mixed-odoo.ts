/**
 * An upstream whose behaviour is selected by a word in the body of each call: prompt, slow, malformed or missing
 * answers.
 */
import { answerLikeOdoo, printResult, type Script } from './scripted-upstream.ts';
import { pauseAtRandom } from './time.ts';

/** The words, and the share of calls of the mixed load that use each word. */
export const WORD_SHARES = {
  quick: 0.55,
  slow: 0.12,
  large: 0.08,
  never: 0.1,
  reset: 0.05,
  refused: 0.03,
  gateway: 0.03,
  broken: 0.04,
} as const;

const SLOW_MS_MAX = 1500;
const LARGE = printResult(`"${'x'.repeat(2_000_000)}"`);
/** Larger than all buffers on the way, for callers that do not read. The mixed load does not use it. */
const HUGE = Buffer.from(printResult(`"${'x'.repeat(48_000_000)}"`));

/** `random` determines the duration of slow answers. */
export function answerByWord(random: () => number): Script {
  return async (socket, { body }) => {
    const word = /word-([a-z]+)/.exec(body.toString('latin1'))?.[1];
    switch (word) {
      case 'never':
        return;
      case 'reset':
        socket.resetAndDestroy();
        return;
      case 'refused':
        answerLikeOdoo(socket, 'busy', '503 Service Unavailable');
        return;
      case 'gateway':
        answerLikeOdoo(socket, 'bad gateway', '502 Bad Gateway');
        return;
      case 'broken':
        socket.write(`HTTP/1.0 200 OK\r\nContent-Length: ${LARGE.length}\r\n\r\n${LARGE.slice(0, 40_000)}`);
        socket.end();
        return;
      case 'large':
        answerLikeOdoo(socket, LARGE);
        return;
      case 'huge':
        answerLikeOdoo(socket, HUGE);
        return;
      case 'slow':
        await pauseAtRandom(random, SLOW_MS_MAX);
    }
    answerLikeOdoo(socket, printResult('true'));
  };
}
