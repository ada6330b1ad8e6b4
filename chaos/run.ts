/**
 * `npm run chaos`: runs the proxy while processes, connections and servers fail. Prints the results and, after a full
 * run, writes docs/reliability.md.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { renderTerminal } from '../bench/report.ts';
import type { Table } from '../bench/scenario.ts';
import { measureFleet } from './fleet.ts';
import { measureHungUpstream } from './hung-upstream.ts';
import { proveIdempotency } from './idempotency.ts';
import { runMixedSoak } from './mixed-soak.ts';
import { measureOverload } from './overload.ts';
import { describeProof, renderReliability, replaceTable } from './report.ts';

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    creates: { type: 'string' },
    kills: { type: 'string' },
    store: { type: 'string' },
    redis: { type: 'string' },
  },
});
const { quick: isQuick, only, seed, creates, kills, store, redis } = values;
const folder = mkdtempSync(join(tmpdir(), 'erp-proxy-chaos-'));

const SCENARIOS: Record<string, () => Promise<Table>> = {
  idempotency: async () => {
    process.stdout.write(`seed ${seed}\n`);
    const proof = await proveIdempotency({
      seed: Number(seed),
      creates: Number(creates ?? (isQuick ? 300 : 10_000)),
      kills: Number(kills ?? (isQuick ? 5 : 200)),
      folder: mkdtempSync(join(folder, 'idempotency-')),
      ...(store === undefined ? {} : { storeUrl: store }),
      ...(redis === undefined ? {} : { redisUrl: redis }),
      onKill: (count, ended) => {
        if (count % 20 === 0) process.stdout.write(`${count} kills, ${ended} creates ended\n`);
      },
    });
    return describeProof(proof);
  },
  fleet: () => measureFleet(folder, isQuick),
  'hung-upstream': () => measureHungUpstream(folder, isQuick),
  overload: () => measureOverload(folder, isQuick),
  'mixed-soak': () => runMixedSoak(folder, isQuick, Number(seed)),
};

if (only !== undefined && !(only in SCENARIOS))
  throw new Error(`--only "${only}" is not a scenario. Scenarios: ${Object.keys(SCENARIOS).join(', ')}.`);
const tables: Table[] = [];
const [loadBefore = 0] = loadavg();
try {
  for (const [name, run] of Object.entries(SCENARIOS)) {
    if (only !== undefined && name !== only) continue;
    const table = await run();
    process.stdout.write(`${renderTerminal(table)}\n`);
    tables.push(table);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
const page = new URL('../docs/reliability.md', import.meta.url);
const today = new Date().toISOString().slice(0, 10);
const [table] = tables;
if (isQuick) {
  process.stdout.write('docs/reliability.md is not written by a quick run.\n');
} else if (only !== undefined && table !== undefined) {
  writeFileSync(page, replaceTable(readFileSync(page, 'utf8'), table, today));
  process.stdout.write(`Wrote "${table.title}" in docs/reliability.md\n`);
} else {
  writeFileSync(page, renderReliability(tables, today, loadBefore));
  process.stdout.write('Wrote docs/reliability.md\n');
}
/** Scenarios whose findings make the run fail. */
const MUST_HOLD = ['idempotency', 'mixed-soak'];
if (
  MUST_HOLD.includes(only ?? '') &&
  tables.some(({ findings }) => findings.some(({ isReached }) => !isReached))
)
  process.exitCode = 1;
