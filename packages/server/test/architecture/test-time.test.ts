/** Checks that tests wait, delay and measure only with test/time.ts, which has the rules and their reasons. */
import { describe, expect, test } from 'vitest';
import { findFiles, readText } from './repository-files.ts';

/** Exempt are the helpers, and this file, which lists what they replace. */
const EXEMPT = new Set(
  ['time.ts', 'own-timers.ts', 'own-timers.test.ts', 'architecture/test-time.test.ts'].map(
    (path) => `packages/server/test/${path}`,
  ),
);
const MS = String.raw`\d[\d_]*(\.\d+)?`;

const RULES: [name: string, pattern: RegExp, advice: string][] = [
  [
    'a timer',
    /\bset(Timeout|Interval)\((?!\))|\b(setTimeout|scheduler)\b.*from 'node:timers\/promises'/,
    'wait with expect.poll, or use pause, runLater or expectToStay',
  ],
  [
    'the real clock',
    /\bperformance\.now\b|\bhrtime\b|\bprocess\.uptime\b/,
    'use measureMs, measureCpuMs or expectCpuBelow',
  ],
  [
    'a time limit',
    new RegExp(String.raw`\btimeout: ${MS}\b|^\s*\}, ${MS}\);`),
    'those of vitest.config.ts are enough',
  ],
  [
    'a bound in milliseconds',
    new RegExp(String.raw`expect\(.*(Ms|measure\w*\().*\)\.toBeLessThan(OrEqual)?\(${MS}\)`),
    'use expectCpuBelow; count turns, calls or bytes; or make endless what must not be waited for',
  ],
  [
    'bare milliseconds',
    new RegExp(String.raw`\b(pause|runLater|pauseAtRandom)\((.*, )?${MS}[,)]`),
    'use a constant of test/time.ts, or one with a name that says why it is long enough',
  ],
];

const files = findFiles('packages/**/*.ts').filter(
  (path) => /\.test\.ts$|\/test\/|\.fixture\.ts$/.test(path) && !EXEMPT.has(path),
);

describe.each(RULES)('%s', (_, pattern, advice) => {
  test('is not in a test', () => {
    const found = files.flatMap((path) =>
      readText(path)
        .split('\n')
        .flatMap((line, index) => (pattern.test(line) ? [`${path}:${index + 1}: ${line.trim()}`] : [])),
    );
    expect(found, advice).toEqual([]);
  });
});
