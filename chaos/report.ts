/** Renders measurements as the page docs/reliability.md. Does not know how they were made. */
import { describeMachine } from '../bench/machine.ts';
import { renderMarkdownTable, renderShortcomings, wrapWords } from '../bench/report.ts';
import type { Table } from '../bench/scenario.ts';
import type { IdempotencyProof } from './idempotency.ts';

export function describeProof(proof: IdempotencyProof): Table {
  const faults = {
    'run twice': proof.duplicates,
    'confirmed but missing in Odoo': proof.confirmedMissing,
    'confirmed with the id of another': proof.confirmedWithOtherId,
    'left without a final or documented answer': proof.unexpected,
  };
  const ended = proof.confirmed + proof.uncertain;
  const counts: [string, number][] = [
    ['`kill -9` of the proxy', proof.kills],
    ['creates, each under a key', proof.creates],
    ['requests of the clients', proof.attempts],
    ['… without a proxy, or cut off', proof.attemptsLost],
    ...Object.entries(proof.fates).map(([fate, count]): [string, number] => [
      `connections to Odoo: ${FATES[fate as keyof typeof FATES]}`,
      count,
    ]),
    ['confirmed: the client has the id', proof.confirmed],
    ['… by a retry, from the store', proof.replayed],
    ['uncertain: the client got -32015', proof.uncertain],
    ['… and Odoo had run the create', proof.uncertainRun],
    ['… and Odoo had not run the create', proof.uncertain - proof.uncertainRun],
    ...Object.entries(faults).map(([name, markers]): [string, number] => [name, markers.length]),
  ];
  return {
    title: 'Idempotency keys',
    columns: ['what', 'count'],
    rows: counts.map(([name, count]) => [name, String(count)]),
    notes: [
      `Keys in ${proof.keptIn}; ${proof.seconds.toFixed(0)} s, seed ${proof.seed}. \`npm run chaos -- --only idempotency --seed ${proof.seed}\` repeats the same failures, at other moments.`,
    ],
    findings: [
      ...Object.entries(faults).map(([name, markers]) => ({
        isReached: markers.length === 0,
        text: `no create was ${name} (${markers.length}${markers.length ? `: ${markers.slice(0, 3).join('; ')}` : ''})`,
      })),
      {
        isReached: ended === proof.creates,
        text: `each of ${proof.creates} creates was confirmed or reported as uncertain (${ended})`,
      },
    ],
  };
}

const FATES = {
  answered: 'answered',
  closedUnread: 'closed before anything was read',
  closedBeforeRunning: 'closed after the request was read, not run',
  closedAfterRunning: 'run, closed before the answer',
  closedInAnswer: 'run, closed in the middle of the answer',
  silentAfterRunning: 'run, never answered',
};

export function renderReliability(tables: Table[], date: string, loadBefore: number): string {
  const load =
    loadBefore < 0.5
      ? ''
      : ` Other programs ran on the machine (load average ${loadBefore.toFixed(1)} at the start). Times and rates are therefore worse than on an idle machine, and vary.`;
  const { machine, node } = describeMachine();
  return `# Reliability

This page shows how the proxy behaves during failures: processes are killed, connections break, servers hang, and load
exceeds capacity. Each scenario has targets and measurements.

\`npm run chaos\` wrote this page on ${date}. Do not edit it by hand.

## Targets

${renderShortcomings(tables)}

## Method

${wrapWords(`All scenarios ran on one machine: ${machine}, Node ${node}.${load} Compare figures only within a table, because all processes share the same cores.`)}

The proxy is the real program with a SQLite file and its default settings, unless a table says otherwise. \`egress.allow\`
and \`upstream.protocol: jsonrpc\` are set for the test servers.

- **Idempotency keys.** 16 clients send creates with an \`idempotency-key\` and \`x-request-timeout: 1\`. They repeat each
  create as [idempotency.md](idempotency.md) describes, until they get an id or -32015. They also repeat it after
  \`"outcome": "unknown"\`, which should then give -32015. The proxy is killed at random moments,
  also while it starts, and restarted at once on the same store. The Odoo is a separate process that breaks connections
  at random and records each create. At the end its records are compared with the answers that the clients got.
- **A hung Odoo.** One server never answers, the other one always does. The figure is the ratio within a run.
- **One call on many instances**, **Overload** and **Mixed soak** are described below their tables.

## Repeating the measurements

\`npm run chaos\` runs all scenarios and writes this page. Options:

- \`--only idempotency\`, \`--only fleet\`, \`--only hung-upstream\`, \`--only overload\` or \`--only mixed-soak\` runs
  one scenario and replaces its table.
- \`--quick\` takes some seconds and does not write the page.
- \`--store postgres://…\` uses another store. The run uses the whole database.
- \`--redis redis://…\` keeps the idempotency keys in Redis.

${tables.map(renderMarkdownTable).join('\n')}`;
}

/** Replaces one table of the page by that of a later run, or appends it. Returns the page. */
export function replaceTable(page: string, table: Table, date: string): string {
  const note = `This scenario ran separately on ${date}. ${renderShortcomings([table])}`;
  const section = renderMarkdownTable({ ...table, notes: [...table.notes, note] });
  const start = page.indexOf(`\n## ${table.title}\n`);
  if (start < 0) return `${page.trimEnd()}\n\n${section}`;
  const next = page.indexOf('\n## ', start + 1);
  return `${page.slice(0, start + 1)}${section}${next < 0 ? '' : page.slice(next)}`;
}
