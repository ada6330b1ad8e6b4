/** Measures the time from the start of the real program to the first success of `/readyz`. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { createKey, startProgram } from '../program.ts';
import { findMedian, milliseconds, type Scenario } from '../scenario.ts';

const READY_MS_WANTED = 500;

export const ready: Scenario = {
  name: 'ready',
  async run(bench) {
    const folder = mkdtempSync(join(bench.folder, 'ready-'));
    await createKey(folder);
    const programMs: number[] = [];
    const emptyMs: number[] = [];
    for (let round = 0; round < (bench.isQuick ? 2 : 9); round++) {
      const startedMs = performance.now();
      await once(spawn(process.execPath, ['--eval', '0'], { stdio: 'ignore' }), 'exit');
      emptyMs.push(performance.now() - startedMs);
      const program = await startProgram(folder);
      programMs.push(program.readyMs);
      await program.stop();
    }
    const medianMs = findMedian(programMs);
    const describe = (name: string, times: number[]) => [
      name,
      milliseconds(times, 0),
      Math.min(...times).toFixed(0),
      Math.max(...times).toFixed(0),
    ];
    return [
      {
        title: 'Start',
        columns: ['', 'median ms', 'least', 'most'],
        rows: [
          describe('erp-proxy, to ready', programMs),
          describe('Node with an empty script, to its end', emptyMs),
        ],
        notes: ['The compile cache was filled by an earlier start, and the store existed.'],
        findings: [
          {
            isReached: medianMs < READY_MS_WANTED,
            text: `ready in under 500 ms (${medianMs.toFixed(0)} ms)`,
          },
        ],
      },
    ];
  },
};
