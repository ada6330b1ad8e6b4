/** `fleet call`: sends one call to many instances through a running proxy. `fleet status`: shows their state. */
import { ByteStreamError, readStream } from '@erp-proxy/async/streams';
import {
  type ErrorBody,
  FLEET_PATH,
  type FleetRow,
  type InstanceView,
  joinFleetRows,
  KEY_HEADER,
  tryParse,
} from '@erp-proxy/contract';
import type { EgressDispatcher } from '@erp-proxy/egress';
import { type Command, CommandError, type CommandInput, printJson, readNumber } from './command.ts';
import { createDispatcherTo } from './post.ts';
import { type Column, printList } from './print-list.ts';
import {
  locateRoute,
  OTHER_VERSION,
  PROXY_OPTIONS,
  readAddress,
  readKey,
  readTimeout,
} from './proxy-access.ts';
import { readDurationMs } from './read-time.ts';
import { ADMIN_OPTIONS, listAll, useAdmin } from './use-admin.ts';

const ERROR_BYTES_MAX = 1024 * 1024;
/** The longest time limit of a request, and some more for its answer. */
const ANSWER_MS_MAX = 310_000;
/** The most groups that the statistics give. */
const GROUPS_MAX = 1000;

export const fleetCommands: readonly Command[] = [
  {
    name: 'fleet call',
    arguments: ['[file]'],
    summary:
      'Send a call from a JSON file (or standard input) to many instances through a running proxy. Prints a line for each as it answers.',
    options: {
      ...PROXY_OPTIONS,
      instances: { value: 'name,…', description: 'Names of instances, in which "*" stands for any text.' },
      tags: { value: 'name,…', description: 'Tags: the instances that have at least one of them.' },
      concurrency: { value: 'number', description: 'Number of instances to call at once.' },
      timeout: { value: 'seconds', description: 'Time limit of the whole request. Default: 300.' },
    },
    async run(input) {
      const base = readAddress(input);
      const key = await readKey(input);
      const body = await readBody(input);
      const timeout = readTimeout(input);
      const headers = {
        [KEY_HEADER]: key,
        'content-type': 'application/json',
        ...(timeout === undefined ? {} : { 'x-request-timeout': timeout }),
      };
      const egress = createDispatcherTo(base.origin);
      try {
        return await printLines(egress, base, headers, body, input);
      } finally {
        await egress.close();
      }
    },
  },
  {
    name: 'fleet status',
    summary: 'Show each stored instance: version, whether it answers, its key, breaker, times and errors.',
    options: {
      tags: { value: 'name,…', description: 'Only instances that have at least one of these tags.' },
      last: { value: 'time', description: 'Count the calls of this time: 15m, 6h, 7d. Default: 1h.' },
      ...ADMIN_OPTIONS,
    },
    run: (input) =>
      useAdmin(input, async (admin) => {
        const lastMs = readDurationMs('last', input.option('last') ?? '1h');
        const since = new Date(Date.now() - lastMs).toISOString();
        const tags = readList(input, 'tags');
        const { upstreams } = await admin.getStatus();
        const { groups } = await admin.getStatistics({ since, by: 'instance', limit: GROUPS_MAX });
        const instances = await Array.fromAsync(listAll(admin.listInstances, {}));
        const chosen = tags === undefined ? instances : instances.filter((each) => hasTag(each, tags));
        if (tags !== undefined && chosen.length === 0)
          throw new CommandError(`No instance has the tag ${tags.join(' or ')}.`, 1);
        const rows = joinFleetRows(chosen, upstreams, groups);
        if (input.isSet('json')) printJson(input, rows);
        else await printList(input, toStream(rows), COLUMNS, 'There are no instances.');
        return 0;
      }),
  },
];

const COLUMNS: readonly Column<FleetRow>[] = [
  { heading: 'NAME', show: ({ name }) => name },
  { heading: 'TAGS', show: ({ tags }) => tags.join(',') },
  { heading: 'ODOO', show: ({ version }) => version },
  { heading: 'STATE', show: ({ state }) => state },
  { heading: 'BREAKER', show: ({ breaker }) => breaker },
  { heading: 'KEY', show: ({ key }) => key.state },
  { heading: 'KEY EXPIRES', show: ({ key }) => key.expires_at },
  { heading: 'CALLS', show: ({ calls }) => calls },
  { heading: 'ERRORS', show: ({ errors }) => errors },
  { heading: 'P95', show: ({ p95_ms: p95 }) => p95 && `${p95} ms` },
  { heading: 'CHANGED', show: ({ changed_at: at }) => at },
];

async function readBody(input: CommandInput): Promise<string> {
  const [instances, tags] = [readList(input, 'instances'), readList(input, 'tags')];
  if ((instances === undefined) === (tags === undefined))
    throw new CommandError('Give --instances or --tags.');
  const concurrency = readNumber(input, 'concurrency', /^[1-9]\d{0,3}$/, 'a number of instances');
  const text = (await input.readInput(input.arguments[0] ?? '-')).toString();
  const call = tryParse(text);
  if (typeof call !== 'object' || call === null || Array.isArray(call))
    throw new CommandError('The file must have one call as JSON, without `erp_instance`.');
  // The text of the call, so that its values keep their form.
  const others = JSON.stringify({ instances, tags, concurrency }).slice(1);
  return `{"call":${text.trim()}${others === '}' ? '' : ','}${others}`;
}

function readList({ option }: CommandInput, name: string): string[] | undefined {
  return option(name)
    ?.split(',')
    .map((text) => text.trim());
}

/** Returns the exit status: 0 if all instances have a result. */
async function printLines(
  egress: EgressDispatcher,
  base: URL,
  headers: Record<string, string>,
  body: string,
  { print, complain, untilTaken }: CommandInput,
): Promise<number> {
  const path = locateRoute(base, FLEET_PATH).pathname;
  const answer = await egress.send(
    { method: 'POST', origin: base.origin, path, headers, body: Buffer.from(body) },
    { signal: AbortSignal.timeout(ANSWER_MS_MAX) },
  );
  if (!answer.ok) {
    complain(`No answer from ${base.origin} (${answer.detail}); is the proxy running there?\n`);
    return 1;
  }
  let last = '';
  try {
    if (answer.headers['content-type'] !== 'application/x-ndjson') {
      complain(`${explain(await readStream(answer.body, ERROR_BYTES_MAX), base.origin)}\n`);
      return 1;
    }
    const decoder = new TextDecoder();
    for (let piece = await answer.body.next(); piece !== null; piece = await answer.body.next()) {
      const text = decoder.decode(piece, { stream: true });
      print(text);
      await untilTaken();
      // The last line is short.
      last = (last + text).slice(-LAST_LINE_MAX);
    }
  } catch (error) {
    if (!(error instanceof ByteStreamError)) throw error;
  }
  const counts = tryParse(last.trimEnd().split('\n').at(-1) ?? '') as Record<string, unknown> | undefined;
  if (typeof counts?.['done'] === 'number') return counts['failed'] === 0 && counts['skipped'] === 0 ? 0 : 1;
  complain('The connection was closed before the last line: the answer is not complete.\n');
  return 1;
}

const LAST_LINE_MAX = 200;

function explain(body: Buffer | null, origin: string): string {
  const { error } = Object(tryParse(String(body))) as { error?: ErrorBody };
  if (error === undefined) return `${origin} does not answer as an erp-proxy; check --url.`;
  return error.data.type === 'route_not_found' ? OTHER_VERSION : `${error.data.type}: ${error.message}`;
}

function hasTag({ tags }: InstanceView, wanted: readonly string[]): boolean {
  return tags.some((tag) => wanted.includes(tag));
}

async function* toStream<Item>(items: readonly Item[]): AsyncGenerator<Item> {
  yield* items;
}
