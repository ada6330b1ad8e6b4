/** `status` and `top`: show on a terminal what the proxy does. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Admin } from '@erp-proxy/admin';
import {
  type AttentionView,
  type CallStatistics,
  type DurationQuantiles,
  STATISTICS_DIMENSIONS,
  type StatisticsDimension,
  type StatisticsView,
  type StatusView,
  type UpstreamView,
} from '@erp-proxy/contract';
import { type Command, type CommandInput, type CommandOption, printJson } from './command.ts';
import { type Column, printList, showLine } from './print-list.ts';
import { readDurationMs } from './read-time.ts';
import { ADMIN_OPTIONS, useAdmin } from './use-admin.ts';

const OPTIONS = {
  last: { value: 'time', description: 'Count the calls of this time: 15m, 6h, 7d. Default: 1h.' },
  ...ADMIN_OPTIONS,
} satisfies Record<string, CommandOption>;

const REFRESH_MS = 2000;
/** Moves the cursor to the first column of the first line, and erases what follows. */
const CLEAR = '\u001b[H\u001b[J';
const UPSTREAMS_SHOWN = 20;

export const statusCommands: readonly Command[] = [
  {
    name: 'status',
    summary: 'Show the state of the proxy, of its Odoo databases and of the calls of the last hour.',
    options: OPTIONS,
    run: (input) =>
      useAdmin(input, async (admin) => {
        const status = await admin.getStatus();
        const statistics = await readStatistics(admin, input, 'instance');
        const attention = await admin.listAttention();
        if (input.isSet('json')) printJson(input, { ...status, statistics, attention });
        else {
          printStatus(input, status, statistics);
          printAttention(input, attention);
          await printUpstreams(input, status.upstreams);
          await printGroups(input, 'instance', statistics);
        }
        return Object.values(status.checks).some(({ state }) => state === 'failed') ? 1 : 0;
      }),
  },
  {
    name: 'top',
    summary: 'Show which calls take the most, again every two seconds.',
    options: {
      by: {
        choices: STATISTICS_DIMENSIONS,
        description: 'What to group the calls by. Default: model.',
      },
      once: { description: 'Show it once.' },
      ...OPTIONS,
    },
    run: (input) =>
      useAdmin(input, async (admin) => {
        const by = (input.option('by') ?? 'model') as StatisticsDimension;
        const stopped = input.untilStopped().then(() => true);
        const isOnce = input.isSet('once') || input.isSet('json') || !input.isTerminal;
        do {
          const statistics = await readStatistics(admin, input, by);
          if (input.isSet('json')) printJson(input, statistics);
          else {
            if (!isOnce) input.print(CLEAR);
            input.print(`${describeCalls(statistics)}\n`);
            await printGroups(input, by, statistics);
          }
        } while (!isOnce && !(await Promise.race([stopped, sleep(REFRESH_MS, false)])));
        return 0;
      }),
  },
];

function readStatistics(
  admin: Admin,
  { option }: Pick<CommandInput, 'option'>,
  by: StatisticsDimension,
): Promise<StatisticsView> {
  const lastMs = readDurationMs('last', option('last') ?? '1h');
  return admin.getStatistics({ since: new Date(Date.now() - lastMs).toISOString(), by });
}

function printStatus({ print, option }: CommandInput, status: StatusView, statistics: StatisticsView): void {
  // Without `--url`, the start time would be that of this command.
  const started = option('url') === undefined ? '' : `, started ${status.started_at}`;
  print(`erp-proxy ${status.version}${started}, store ${status.store}\n`);
  for (const [name, { state, detail }] of Object.entries(status.checks)) {
    print(`  ${name}: ${state}${detail === null ? '' : ` (${detail})`}\n`);
  }
  print(`${describeCalls(statistics)}\n`);
}

function printAttention({ print }: CommandInput, { items, more, incomplete = [] }: AttentionView): void {
  if (items.length === 0 && incomplete.length === 0) return;
  print('\nNeeds attention:\n');
  for (const { severity, target, text } of items)
    print(`  ${severity.padEnd(8)} ${showLine(`${target}: ${text}`)}\n`);
  if (more > 0) print(`and ${more} more\n`);
  if (incomplete.length > 0) print(`looked at in part only: ${incomplete.join(', ').replaceAll('_', ' ')}\n`);
}

/** Prints one line such as `1,204 calls since …: 12 errors, 3 refused; …`. */
function describeCalls({ since, total, now }: StatisticsView): string {
  const parts = [
    `${countErrors(total)} errors`,
    `${total.refused} refused`,
    `${total.shared} shared`,
    `${total.replayed} replayed`,
  ];
  const times = [
    ...(total.proxy_ms === null ? [] : [`proxy ${showQuantiles(total.proxy_ms)}`]),
    ...(total.odoo_ms === null ? [] : [`Odoo ${showQuantiles(total.odoo_ms)}`]),
    ...(now === null ? [] : [`${now.in_flight} in flight, ${now.queued} queued`]),
  ];
  const calls = total.calls === 1 ? '1 call' : `${total.calls} calls`;
  return `${calls} since ${since}: ${parts.join(', ')}; ${times.join('; ')}`;
}

async function printUpstreams(input: CommandInput, upstreams: readonly UpstreamView[]): Promise<void> {
  if (upstreams.length === 0) return;
  input.print('\n');
  await printList(input, toStream(upstreams.slice(0, UPSTREAMS_SHOWN)), UPSTREAM_COLUMNS, '');
  const more = upstreams.length - UPSTREAMS_SHOWN;
  if (more > 0) input.print(`and ${more} more\n`);
}

const UPSTREAM_COLUMNS: readonly Column<UpstreamView>[] = [
  { heading: 'DATABASE', show: ({ database }) => database },
  { heading: 'RUNNING', show: ({ running, limit }) => `${running} of ${limit}` },
  { heading: 'WAITING', show: ({ waiting }) => waiting },
  { heading: 'BREAKER', show: ({ breaker }) => breaker },
  { heading: 'ODOO', show: ({ version }) => version },
  { heading: 'MEAN', show: ({ answer_ms }) => answer_ms && `${answer_ms} ms` },
];

type Group = StatisticsView['groups'][number];

async function printGroups(
  input: CommandInput,
  by: StatisticsDimension,
  { groups }: StatisticsView,
): Promise<void> {
  if (groups.length > 0) input.print('\n');
  const columns: readonly Column<Group>[] = [
    { heading: by.toUpperCase(), show: ({ name }) => name ?? `(without a known ${by})` },
    { heading: 'CALLS', show: ({ calls }) => calls },
    { heading: 'ERRORS', show: (group) => countErrors(group) },
    { heading: 'ODOO P50', show: ({ odoo_ms }) => odoo_ms && `${odoo_ms.p50} ms` },
    { heading: 'P95', show: ({ odoo_ms }) => odoo_ms && `${odoo_ms.p95} ms` },
    { heading: 'P99', show: ({ odoo_ms }) => odoo_ms && `${odoo_ms.p99} ms` },
    { heading: 'PROXY P99', show: ({ proxy_ms }) => proxy_ms && `${proxy_ms.p99} ms` },
    { heading: 'MOST FREQUENT ERROR', show: ({ errors }) => Object.keys(errors)[0] ?? null },
  ];
  await printList(input, toStream(groups), columns, 'There were no calls.');
}

function countErrors({ errors }: CallStatistics): number {
  return Object.values(errors).reduce((sum, count) => sum + count, 0);
}

function showQuantiles({ p50, p95, p99 }: DurationQuantiles): string {
  return `p50 ${p50}, p95 ${p95}, p99 ${p99} ms`;
}

async function* toStream<Item>(items: readonly Item[]): AsyncGenerator<Item> {
  yield* items;
}
