/** Measures how much memory a result of 200 MB adds to a warm process. */
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { readPeakBytes, readResidentBytes, resetPeakMemory } from '../process-usage.ts';
import { buildExecuteRequest, createKey, startProgram } from '../program.ts';
import { printMebibytes, runLoad, type Scenario } from '../scenario.ts';
import { HUGE_BYTES, SMALL_BYTES } from '../upstream.ts';

const ADDED_BYTES_MAX = 32 * 2 ** 20;
const PAUSE_MS = 1500;

export const memory: Scenario = {
  name: 'memory',
  async run(bench) {
    const folder = mkdtempSync(join(bench.folder, 'memory-'));
    const key = await createKey(folder);
    const program = await startProgram(folder);
    const smallJob = {
      port: program.port,
      requests: [buildExecuteRequest(key, bench.ports.small.close)],
      connections: 16,
      calls: bench.isQuick ? 1000 : 8000,
      bodyBytesMin: SMALL_BYTES - 20,
    };
    const hugeJob = {
      port: program.port,
      requests: [buildExecuteRequest(key, bench.ports.huge)],
      connections: 1,
      calls: 1,
      bodyBytesMin: HUGE_BYTES - 20,
    };
    try {
      await runLoad(bench, smallJob);
      const rows: string[][] = [];
      let worstBytes = 0;
      for (const [who, pauseMs] of [
        ['reads at once', undefined],
        [`reads nothing for ${PAUSE_MS / 1000} s after the first byte`, PAUSE_MS],
        ['reads at once, again', undefined],
      ] as const) {
        const beforeBytes = readResidentBytes(program.pid);
        resetPeakMemory(program.pid);
        const { seconds } = await runLoad(bench, {
          ...hugeJob,
          ...(pauseMs === undefined ? {} : { pauseMs }),
        });
        const addedBytes = readPeakBytes(program.pid) - beforeBytes;
        worstBytes = Math.max(worstBytes, addedBytes);
        rows.push([who, printMebibytes(beforeBytes), printMebibytes(addedBytes), seconds.toFixed(1)]);
      }
      const isReached = worstBytes <= ADDED_BYTES_MAX;
      return [
        {
          title: 'A result of 200 MB through a warm process',
          columns: ['the caller', 'before, MiB', 'added at most, MiB', 'seconds'],
          rows,
          notes: [
            '"Added" is the peak of the resident memory during the call, minus the resident memory before it.',
          ],
          findings: [
            { isReached, text: `a 200 MB result adds at most 32 MiB (${printMebibytes(worstBytes)})` },
          ],
          answers: [
            { question: 'memory', text: `A result of 200 MB adds ${printMebibytes(worstBytes)} MiB.` },
          ],
        },
      ];
    } finally {
      await program.stop();
    }
  },
};
