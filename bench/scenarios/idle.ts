/** Measures what the proxy uses while it gets no calls. */
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readCpuMs, readResidentBytes, readWakeUps } from '../process-usage.ts';
import { buildExecuteRequest, createKey, startProgram } from '../program.ts';
import { mebibytes, printMebibytes, runLoad, type Scenario } from '../scenario.ts';
import { SMALL_BYTES } from '../upstream.ts';

const CORE_PERCENT_MAX = 0.1;

export const idle: Scenario = {
  name: 'idle',
  async run(bench) {
    const folder = mkdtempSync(join(bench.folder, 'idle-'));
    const key = await createKey(folder);
    const program = await startProgram(folder);
    try {
      const freshBytes = readResidentBytes(program.pid);
      await runLoad(bench, {
        port: program.port,
        requests: [buildExecuteRequest(key, bench.ports.small.close)],
        connections: 16,
        calls: bench.isQuick ? 200 : 5000,
        bodyBytesMin: SMALL_BYTES - 20,
      });
      // What the calls leave behind, such as garbage to collect, is not idle time.
      await sleep(bench.isQuick ? 500 : 5000);
      const startedMs = performance.now();
      const cpuBeforeMs = readCpuMs(program.pid);
      const wakeUpsBefore = readWakeUps(program.pid);
      await sleep(bench.isQuick ? 2000 : 20_000);
      const seconds = (performance.now() - startedMs) / 1000;
      const corePercent = (readCpuMs(program.pid) - cpuBeforeMs) / 10 / seconds;
      const wakeUps = (readWakeUps(program.pid) - wakeUpsBefore) / seconds;
      return [
        {
          title: 'Without calls',
          columns: ['', '% of a core', 'wake-ups a second', 'MiB after the start', 'MiB now'],
          rows: [
            [
              'erp-proxy, after some calls',
              { unit: '%', rounds: [corePercent], digits: 3 },
              { unit: 'per s', rounds: [wakeUps], digits: 1 },
              mebibytes(freshBytes),
              mebibytes(readResidentBytes(program.pid)),
            ],
          ],
          notes: ['A wake-up is a voluntary context switch of any thread of the process.'],
          findings: [
            {
              isReached: corePercent < CORE_PERCENT_MAX,
              text: `without calls, less than ${CORE_PERCENT_MAX} % of a core (${corePercent.toFixed(3)} %)`,
            },
          ],
          answers: [
            {
              question: 'idle',
              text: `${corePercent.toFixed(2)} % of a core, and ${wakeUps.toFixed(0)} wake-ups a second.`,
            },
            { question: 'memory', text: `${printMebibytes(freshBytes)} MiB after its start.` },
          ],
        },
      ];
    } finally {
      await program.stop();
    }
  },
};
