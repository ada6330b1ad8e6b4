/** Measures what the proxy uses while it gets no calls, and what one wake-up a second costs here. */
import { spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { stopProcess } from '../helper-process.ts';
import { readCpuMs, readResidentBytes, readWakeUps } from '../process-usage.ts';
import { buildExecuteRequest, createKey, startProgram } from '../program.ts';
import { printMebibytes, runLoad, type Scenario } from '../scenario.ts';
import { SMALL_BYTES } from '../upstream.ts';

const CORE_PERCENT_MAX = 0.1;

export const idle: Scenario = {
  name: 'idle',
  async run(bench) {
    const folder = mkdtempSync(join(bench.folder, 'idle-'));
    const key = await createKey(folder);
    const program = await startProgram(folder);
    const timer = spawn(process.execPath, ['--eval', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
    try {
      const freshBytes = readResidentBytes(program.pid);
      await runLoad(bench, {
        port: program.port,
        requests: [buildExecuteRequest(key, bench.ports.small.close)],
        connections: 16,
        calls: bench.isQuick ? 200 : 5000,
        bodyBytesMin: SMALL_BYTES - 20,
      });
      // Garbage collection after the calls is not idle work: V8 does it up to eight seconds after them.
      await sleep(bench.isQuick ? 500 : 12_000);
      const ms = bench.isQuick ? 2000 : 20_000;
      const [ofProgram, ofTimer] = await Promise.all([
        measureRest(program.pid, ms),
        measureRest(timer.pid as number, ms),
      ]);
      const { corePercent, wakeUps } = ofProgram;
      return [
        {
          title: 'Without calls',
          columns: ['', '% of a core', 'wake-ups a second', 'MiB after the start', 'MiB now'],
          rows: [
            [
              'erp-proxy, after some calls',
              ...describeRest(ofProgram),
              printMebibytes(freshBytes),
              printMebibytes(readResidentBytes(program.pid)),
            ],
            ['Node with a timer of one second', ...describeRest(ofTimer), '', ''],
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
      await stopProcess(timer);
      await program.stop();
    }
  },
};

interface Rest {
  corePercent: number;
  wakeUps: number;
}

async function measureRest(pid: number, ms: number): Promise<Rest> {
  const startedMs = performance.now();
  const cpuBeforeMs = readCpuMs(pid);
  const wakeUpsBefore = readWakeUps(pid);
  await sleep(ms);
  const seconds = (performance.now() - startedMs) / 1000;
  return {
    corePercent: (readCpuMs(pid) - cpuBeforeMs) / 10 / seconds,
    wakeUps: (readWakeUps(pid) - wakeUpsBefore) / seconds,
  };
}

function describeRest({ corePercent, wakeUps }: Rest): string[] {
  return [corePercent.toFixed(3), wakeUps.toFixed(1)];
}
