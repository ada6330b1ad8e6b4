/**
 * `npm run bench`: runs the scenarios, prints their tables and, after a full run, writes docs/benchmarks.md. With
 * `--compare <checkout>`, it compares two checkouts instead.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CASES, compareCheckouts } from './compare.ts';
import { startHelper } from './helper-process.ts';
import { describeMachine } from './machine.ts';
import { readOptions } from './options.ts';
import { renderPage, renderTerminal } from './report.ts';
import type { Scenario, Table } from './scenario.ts';
import { burst } from './scenarios/burst.ts';
import { https } from './scenarios/https.ts';
import { idle } from './scenarios/idle.ts';
import { inFlight } from './scenarios/in-flight.ts';
import { keys } from './scenarios/keys.ts';
import { mcp } from './scenarios/mcp.ts';
import { memory } from './scenarios/memory.ts';
import { options } from './scenarios/options.ts';
import { paced } from './scenarios/paced.ts';
import { ready } from './scenarios/ready.ts';
import { speed } from './scenarios/speed.ts';
import { workers } from './scenarios/workers.ts';
import { listMissing } from './subjects.ts';
import type { UpstreamPorts } from './upstream.ts';

const SCENARIOS: Scenario[] = [
  https,
  paced,
  idle,
  speed,
  workers,
  memory,
  inFlight,
  burst,
  ready,
  keys,
  options,
  mcp,
];

const { isQuick, only, compare } = readOptions(process.argv.slice(2), {
  scenarios: SCENARIOS.map(({ name }) => name),
  cases: CASES,
});
const folder = mkdtempSync(join(tmpdir(), 'erp-proxy-bench-'));
const upstream = await startHelper(new URL('./upstream.ts', import.meta.url));
const load = await startHelper(new URL('./load.ts', import.meta.url));
const tables: Table[] = [];
try {
  const bench = { isQuick, folder, upstream, ports: upstream.hello as UpstreamPorts, load };
  if (compare !== null) print(await compareCheckouts(bench, compare, only));
  for (const scenario of compare === null ? SCENARIOS : []) {
    if (only !== null && scenario.name !== only) continue;
    for (const table of await scenario.run(bench)) {
      print(table);
      tables.push({
        ...table,
        notes: [...table.notes, `Repeat: \`npm run bench -- --only ${scenario.name}\``],
      });
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
  const date = new Date().toISOString().slice(0, 10);
  const page = fileURLToPath(new URL('../docs/benchmarks.md', import.meta.url));
  writeFileSync(page, renderPage(tables, { date, ...describeMachine(), missing: listMissing() }));
  process.stdout.write('Wrote docs/benchmarks.md\n');
}

function print(table: Table): void {
  process.stdout.write(`${renderTerminal(table)}\n`);
}
