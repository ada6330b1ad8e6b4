/** Compares the cost of a call with one client key in the store and with a million. */

import { createHmac } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { generateKey } from '@erp-proxy/control/keys/format';
import { openSqliteStore } from '@erp-proxy/stores/testing';
import { readCpuMs } from '../process-usage.ts';
import { buildExecuteRequest, locateStore, type Program, startProgram } from '../program.ts';
import {
  type Bench,
  divideRounds,
  findMedian,
  microseconds,
  runLoad,
  type Scenario,
  times,
} from '../scenario.ts';
import { SMALL_BYTES } from '../upstream.ts';

const HASH_SECRET = 'the secret of a bench, forgotten after it';
/** More keys than the proxy keeps in memory, so that it must read the key of each call from the store. */
const USED_KEYS = 20_000;
/** Higher ratios are more than noise between rounds. */
const NOISE = 1.1;

interface Measured {
  name: string;
  program: Program;
  requests: Buffer[];
  cpuUs: number[];
}

export const keys: Scenario = {
  name: 'keys',
  async run(bench) {
    const fullCount = bench.isQuick ? 50_000 : 1_000_000;
    const one = await start(bench, 1, 1);
    const full = await start(bench, fullCount, USED_KEYS);
    const count = fullCount.toLocaleString('en');
    const measured: Measured[] = [
      { name: 'one key in the store', ...one, cpuUs: [] },
      { name: `${count} keys, one of them used`, ...full, requests: full.requests.slice(0, 1), cpuUs: [] },
      { name: `${count} keys, each call with another one`, ...full, cpuUs: [] },
    ];
    try {
      const calls = bench.isQuick ? 500 : 4000;
      for (let round = 0; round < (bench.isQuick ? 2 : 8); round++) {
        for (const { program, requests, cpuUs } of measured) {
          // Each round continues where the last one stopped, so that no key is used again while it is in memory.
          const from = (round * calls) % requests.length;
          const inTurn = [...requests.slice(from), ...requests.slice(0, from)];
          const beforeMs = readCpuMs(program.pid);
          await runLoad(bench, {
            port: program.port,
            requests: inTurn.slice(0, calls),
            connections: 16,
            calls,
            bodyBytesMin: SMALL_BYTES - 20,
          });
          // The first round warms up.
          if (round > 0) cpuUs.push(((readCpuMs(program.pid) - beforeMs) * 1000) / calls);
        }
      }
    } finally {
      await one.program.stop();
      await full.program.stop();
    }
    const [oneUs = 0, usedUs = 0, otherUs = 0] = measured.map(({ cpuUs }) => findMedian(cpuUs));
    return [
      {
        title: 'Many client keys',
        columns: ['', 'CPU µs/call', 'of one key'],
        rows: measured.map(({ name, cpuUs }) => [
          name,
          microseconds(cpuUs),
          times(divideRounds(cpuUs, measured[0]!.cpuUs)),
        ]),
        notes: [
          'The keys were inserted in bulk into the schema of the store. Those that are used have the hashes that the proxy computes.',
          'The proxy keeps up to 10,000 keys in memory. Each call with another key reads it from the store and computes its hash.',
        ],
        findings: [
          {
            isReached: usedUs <= oneUs * NOISE,
            text: `a million keys cost no more per call than one (${(usedUs / oneUs).toFixed(2)} times)`,
          },
          {
            isReached: otherUs <= oneUs * NOISE,
            text: `a million keys, another one with each call, cost no more than one key (${(otherUs / oneUs).toFixed(2)} times)`,
          },
        ],
      },
    ];
  },
};

async function start(
  bench: Bench,
  count: number,
  usedCount: number,
): Promise<{ program: Program; requests: Buffer[] }> {
  const folder = mkdtempSync(join(bench.folder, 'keys-'));
  const file = locateStore(folder).slice('sqlite:'.length);
  const store = await openSqliteStore(file);
  await store.close();
  const texts = fill(file, count, usedCount);
  const requests = texts.map((text) => buildExecuteRequest(text, bench.ports.small.keep));
  return { program: await startProgram(folder, { 'keys.hashSecret': HASH_SECRET }), requests };
}

/** Inserts all keys in one transaction. The store's own insert syncs each key to disk, which would take an hour. */
function fill(file: string, count: number, usedCount: number): string[] {
  const database = new DatabaseSync(file);
  const insert = database.prepare(
    'INSERT INTO client_keys (id, name, secret_hash, created_at) VALUES (?, ?, ?, 0)',
  );
  const texts: string[] = [];
  database.exec('BEGIN');
  for (let index = 0; index < usedCount; index++) {
    const { id, secret, text } = generateKey();
    insert.run(id, 'bench', createHmac('sha256', HASH_SECRET).update(secret).digest());
    texts.push(text);
  }
  database
    .prepare(
      `WITH RECURSIVE row(number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM row WHERE number < ?)
       INSERT INTO client_keys (id, name, secret_hash, created_at)
       SELECT substr(hex(randomblob(6)), 1, 12), 'bench', randomblob(32), 0 FROM row WHERE ? > 0
       ON CONFLICT DO NOTHING`,
    )
    .run(count - usedCount, count - usedCount);
  database.exec('COMMIT');
  database.close();
  return texts;
}
