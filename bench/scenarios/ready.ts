/** Measures the time from the start of the real program to the first success of `/readyz`. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { createKey, locateBin, OWN_CHECKOUT, startProgram } from '../program.ts';
import { findMedian, milliseconds, type Scenario } from '../scenario.ts';
import { unpackProgram } from '../unpack-program.ts';

const READY_MS_WANTED = 500;

export const ready: Scenario = {
  name: 'ready',
  async run(bench) {
    const folder = mkdtempSync(join(bench.folder, 'ready-'));
    await createKey(folder);
    const programs = [
      { name: 'the published package', bin: unpackProgram(folder), ms: [] as number[] },
      { name: 'a checkout', bin: locateBin(OWN_CHECKOUT), ms: [] as number[] },
    ];
    const start = async (bin: string) => {
      const program = await startProgram(folder, {}, { bin });
      await program.stop();
      return program.readyMs;
    };
    // The first start fills the compile cache.
    for (const { bin } of programs) await start(bin);
    const emptyMs: number[] = [];
    for (let round = 0; round < (bench.isQuick ? 2 : 9); round++) {
      const startedMs = performance.now();
      await once(spawn(process.execPath, ['--eval', '0'], { stdio: 'ignore' }), 'exit');
      emptyMs.push(performance.now() - startedMs);
      for (const { bin, ms } of programs) ms.push(await start(bin));
    }
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
          ...programs.map(({ name, ms }) => describe(`erp-proxy from ${name}, to ready`, ms)),
          describe('Node with an empty script, to its end', emptyMs),
        ],
        notes: [
          'The compile cache was filled by an earlier start, and the store existed. In a checkout, Node reads several hundred files of TypeScript; the package has some tens of files.',
        ],
        findings: programs.map(({ name, ms }) => ({
          isReached: findMedian(ms) < READY_MS_WANTED,
          text: `ready in under ${READY_MS_WANTED} ms, from ${name} (${findMedian(ms).toFixed(0)} ms)`,
        })),
      },
    ];
  },
};
