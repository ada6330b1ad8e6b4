/** `npm run bench`: runs the scenarios, prints their tables and, after a full run, writes docs/benchmarks.md. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compareCheckouts } from './compare.ts';
import { startHelper } from './helper-process.ts';
import { readOptions } from './options.ts';
import { renderPage, renderTerminal } from './report.ts';
import type { Scenario, Table } from './scenario.ts';
import { inFlight } from './scenarios/in-flight.ts';
import { keys } from './scenarios/keys.ts';
import { memory } from './scenarios/memory.ts';
import { ready } from './scenarios/ready.ts';
import { speed } from './scenarios/speed.ts';
import { listMissing } from './subjects.ts';
import type { UpstreamPorts } from './upstream.ts';

const SCENARIOS: Scenario[] = [speed, memory, inFlight, ready, keys];

const { isQuick, only, compare } = readOptions(
  process.argv.slice(2),
  SCENARIOS.map(({ name }) => name),
);
const folder = mkdtempSync(join(tmpdir(), 'erp-proxy-bench-'));
const upstream = await startHelper(new URL('./upstream.ts', import.meta.url));
const load = await startHelper(new URL('./load.ts', import.meta.url));
const tables: Table[] = [];
try {
  const bench = { isQuick, folder, upstream, ports: upstream.hello as UpstreamPorts, load };
  if (compare !== null) process.stdout.write(`${renderTerminal(await compareCheckouts(bench, compare))}\n`);
  for (const scenario of compare === null ? SCENARIOS : []) {
    if (only !== null && scenario.name !== only) continue;
    for (const table of await scenario.run(bench)) {
      process.stdout.write(`${renderTerminal(table)}\n`);
      tables.push(table);
    }
  }
} finally {
  await upstream.stop();
  await load.stop();
  rmSync(folder, { recursive: true, force: true });
}

if (isQuick || only !== null || compare !== null) {
  process.stdout.write('docs/benchmarks.md is written by a full run only.\n');
} else {
  const page = new URL('../docs/benchmarks.md', import.meta.url);
  writeFileSync(page, renderPage(tables, listMissing(), new Date().toISOString().slice(0, 10)));
  process.stdout.write('Wrote docs/benchmarks.md\n');
}
