/** Measures 10,000 calls in flight on one process. The upstream holds every answer until all requests have arrived. */
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LoadResult } from '../load.ts';
import { readCpuMs, readOpenFilesMax, readPeakBytes } from '../process-usage.ts';
import { buildExecuteRequest, createKey, startProgram } from '../program.ts';
import { microseconds, printMebibytes, type Scenario } from '../scenario.ts';
import { SMALL_BYTES } from '../upstream.ts';

const CALLS_WANTED = 10_000;
const HOLD_MS_MAX = 120_000;
/** Files that the process opens in addition to two sockets for each call. */
const OTHER_FILES = 60;

export const inFlight: Scenario = {
  name: 'in-flight',
  async run(bench) {
    const folder = mkdtempSync(join(bench.folder, 'in-flight-'));
    const key = await createKey(folder);
    // All calls go to one database, so its concurrency limit must allow them. The upstream would also hold the request
    // for the version, so the protocol is fixed.
    const program = await startProgram(folder, {
      'upstream.concurrency': String(CALLS_WANTED),
      'upstream.concurrencyMin': String(CALLS_WANTED),
      'upstream.protocol': 'jsonrpc',
    });
    try {
      const possible = Math.floor((readOpenFilesMax(program.pid) - OTHER_FILES) / 2);
      const calls = Math.min(bench.isQuick ? 1000 : CALLS_WANTED, possible);
      await bench.upstream.ask('hold');
      const answers = bench.load.ask({
        port: program.port,
        requests: [buildExecuteRequest(key, bench.ports.held, { 'x-request-timeout': '120' })],
        connections: calls,
        connectionsAtOnce: 200,
        calls,
        bodyBytesMin: SMALL_BYTES - 20,
      }) as Promise<LoadResult>;
      const startedMs = performance.now();
      let held = 0;
      while (held < calls && performance.now() - startedMs < HOLD_MS_MAX) {
        await sleep(100);
        held = (await bench.upstream.ask('count')) as number;
      }
      const heldSeconds = (performance.now() - startedMs) / 1000;
      const releasedMs = performance.now();
      await bench.upstream.ask('release');
      const { failed, firstFault } = await answers;
      const answeredSeconds = (performance.now() - releasedMs) / 1000;
      const cpuUs = (readCpuMs(program.pid) * 1000) / calls;
      const peakBytes = readPeakBytes(program.pid);
      const row: string[] = [
        String(calls),
        String(held),
        String(calls - failed),
        heldSeconds.toFixed(1),
        answeredSeconds.toFixed(1),
        microseconds([cpuUs]),
        printMebibytes(peakBytes),
      ];
      const isWhole = held >= calls && failed === 0;
      return [
        {
          title: 'Calls in flight on one process',
          columns: [
            'calls',
            'in flight at once',
            'answered',
            's to send',
            's to answer',
            'CPU µs/call, cold',
            'peak MiB',
          ],
          rows: [row],
          notes: [
            '`upstream.concurrency` was 10000, because all calls go to one database, and `upstream.protocol` was `jsonrpc`.',
            ...(firstFault === null ? [] : [`The first error: ${firstFault}`]),
            ...(possible < CALLS_WANTED
              ? [`This machine allows a process to open sockets for only ${possible} calls.`]
              : []),
          ],
          findings: bench.isQuick
            ? []
            : [
                {
                  isReached: isWhole && calls === CALLS_WANTED,
                  text: `10,000 calls in flight on one process (${calls} sent, ${held} at once, ${calls - failed} answered)`,
                },
              ],
          answers: [
            {
              question: 'memory',
              text: `At most ${printMebibytes(peakBytes)} MiB with ${held.toLocaleString('en')} calls in flight.`,
            },
          ],
        },
      ];
    } finally {
      await program.stop();
    }
  },
};
