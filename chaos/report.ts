/** The figures as a page for docs/. Knows nothing of how they came about. */
import { describeMachine, renderMarkdownTable, renderShortcomings } from '../bench/report.ts';
import type { Table } from '../bench/scenario.ts';
import type { IdempotencyProof } from './idempotency.ts';

export function describeProof(proof: IdempotencyProof): Table {
  const faults = {
    'created twice': proof.duplicates,
    'confirmed, but not there': proof.confirmedMissing,
    'confirmed with the id of another': proof.confirmedWithOtherId,
    'without a final answer, or with one that is not promised': proof.unexpected,
  };
  const ended = proof.confirmed + proof.uncertain;
  const counts: [string, number][] = [
    ['`kill -9` of the proxy', proof.kills],
    ['creates, each under a key', proof.creates],
    ['requests of the clients', proof.attempts],
    ['… that found no proxy, or lost it', proof.attemptsLost],
    ...Object.entries(proof.fates).map(([fate, count]): [string, number] => [
      `connections to Odoo: ${FATES[fate as keyof typeof FATES]}`,
      count,
    ]),
    ['confirmed: the client has the id', proof.confirmed],
    ['… by a retry, from the store', proof.replayed],
    ['uncertain: the client was told -32015', proof.uncertain],
    ['… that Odoo had made', proof.uncertainRun],
    ['… that Odoo had not made', proof.uncertain - proof.uncertainRun],
    ...Object.entries(faults).map(([name, markers]): [string, number] => [name, markers.length]),
  ];
  return {
    title: 'Idempotency keys',
    columns: ['what', 'count'],
    rows: counts.map(([name, count]) => [name, String(count)]),
    notes: [
      `Keys in ${proof.keptIn}; ${proof.seconds.toFixed(0)} s, seed ${proof.seed}: \`npm run chaos -- --only idempotency --seed ${proof.seed}\` draws the same faults again, at other moments.`,
    ],
    findings: [
      ...Object.entries(faults).map(([name, markers]) => ({
        isReached: markers.length === 0,
        text: `no create ${name} (${markers.length}${markers.length ? `: ${markers.slice(0, 3).join('; ')}` : ''})`,
      })),
      {
        isReached: ended === proof.creates,
        text: `each of ${proof.creates} creates is either confirmed or reported as uncertain (${ended})`,
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
  return `# Reliability

Written by \`npm run chaos\` on ${date}; do not edit it by hand.

## What falls short

${renderShortcomings(tables)}

## Method

- All of it in one run on one machine: ${describeMachine()}. The proxy is the real program with a SQLite file and its default settings,
  but for what a table says (and \`egress.allow\` and \`upstream.protocol: jsonrpc\` for the test's servers). Everything shares these cores: compare
  figures within a table, not with other machines.${loadBefore < 0.5 ? '' : `\n- Other programs ran on the machine (load average ${loadBefore.toFixed(1)} when the run began): times and rates are worse than on an idle one, and vary.`}
- **Idempotency keys.** 16 clients send creates with an \`idempotency-key\` and \`x-request-timeout: 1\`, and send each again as
  [idempotency.md](idempotency.md) says, until they are given an id or -32015; also where they were told \`"outcome": "unknown"\`, which ought to be -32015 then. The proxy is
  killed at random moments, some of them while it starts, and started again at once on the same store. The Odoo is a process of its own that breaks
  connections at random and writes down each create. At the end its list is compared with what the clients were told.
- **A hung Odoo.** One server never answers, the other always does; the figure is the ratio within a run.
- **Overload.** See below its table.

To repeat it: \`npm run chaos\`; \`--only idempotency\`, \`--only hung-upstream\` or \`--only overload\` for one of them, \`--quick\` for a look of some seconds,
\`--store postgres://…\` for another store, of which the run takes all, and \`--redis redis://…\` for the idempotency keys in Redis.

${tables.map(renderMarkdownTable).join('\n')}`;
}
