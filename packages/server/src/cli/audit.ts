/** `audit …`: what was called and what was administered. */
import type { AuditQuery, AuditView } from '@erp-proxy/contract';
import { AUDIT_FORMATS, formatAudit } from '../audit/format.ts';
import { type Command, CommandError, type CommandInput, type CommandOption, printJson } from './command.ts';
import { readMoment } from './read-time.ts';
import { ADMIN_OPTIONS, listAll, pickGiven, printJsonList, useAdmin } from './use-admin.ts';

const FILTER_OPTIONS = {
  since: {
    type: 'string',
    value: 'time',
    description: 'From then on: 7d, 2026-03-01, 2026-03-01T08:00:00Z.',
  },
  until: { type: 'string', value: 'time', description: 'Before then; as --since.' },
  kind: { type: 'string', value: 'call|admin', description: 'Only calls, or only acts of administration.' },
  'key-id': { type: 'string', value: 'id', description: 'Only calls with this client key.' },
  instance: { type: 'string', value: 'name', description: 'Only calls on this instance.' },
  model: { type: 'string', value: 'model', description: 'Only calls of this model.' },
  action: { type: 'string', value: 'action', description: 'Only this method, or this act: key.create.' },
  outcome: { type: 'string', value: 'type', description: 'Only calls that ended so: ok, policy_denied.' },
  actor: { type: 'string', value: 'name', description: 'Only acts of this actor.' },
} satisfies Record<string, CommandOption>;

const LINES_DEFAULT = 50;

export const auditListCommand: Command = {
  name: 'audit list',
  arguments: [],
  summary: 'List the records of the audit, the newest first.',
  options: {
    ...FILTER_OPTIONS,
    limit: {
      type: 'string',
      value: 'number',
      description: `At most so many. Default: ${LINES_DEFAULT}.`,
    },
    ...ADMIN_OPTIONS,
  },
  run(input) {
    const query = readFilters(input);
    const limit = readLimit(input);
    return useAdmin(input, async (admin) => {
      const records = takeFirst(listAll(admin.listAudit, query), limit);
      if (input.isSet('json')) await printJsonList(input, records);
      else for await (const record of records) input.print(describeRecord(record));
      return 0;
    });
  },
};

export const auditExportCommand: Command = {
  name: 'audit export',
  arguments: [],
  summary: 'Print all records of the audit that match, the oldest first.',
  options: {
    ...FILTER_OPTIONS,
    format: { type: 'string', value: AUDIT_FORMATS.join('|'), description: 'Default: ndjson.' },
    url: ADMIN_OPTIONS.url,
  },
  run(input) {
    const wanted = input.option('format') ?? 'ndjson';
    const format = AUDIT_FORMATS.find((known) => known === wanted);
    if (format === undefined) throw new CommandError(`--format is one of ${AUDIT_FORMATS.join(', ')}.`);
    const query = readFilters(input);
    return useAdmin(input, async (admin) => {
      for await (const line of formatAudit(admin.exportAudit(query), format)) input.print(line);
      return 0;
    });
  },
};

export const auditVerifyCommand: Command = {
  name: 'audit verify',
  arguments: [],
  summary: 'Check that no record of the audit was changed or removed. Ends with 1 where one was.',
  options: {
    head: {
      type: 'string',
      value: 'head',
      description: 'The head that an earlier verification printed: it must still be part of the chain.',
    },
    ...ADMIN_OPTIONS,
  },
  run: (input) =>
    useAdmin(input, async (admin) => {
      const verdict = await admin.verifyAudit(input.option('head'));
      const { intact, first_seq, last_seq, head, fault } = verdict;
      if (input.isSet('json')) printJson(input, verdict);
      else if (intact) input.print(`Records ${first_seq} to ${last_seq} are intact.\nhead ${head}\n`);
      else input.print(`Not intact, at record ${fault?.seq}: ${fault?.problem}\n`);
      return intact ? 0 : 1;
    }),
};

function readFilters({ option }: CommandInput): AuditQuery {
  const since = option('since');
  const until = option('until');
  return pickGiven({
    since: since && readMoment(since),
    until: until && readMoment(until),
    kind: readKind(option('kind')),
    key_id: option('key-id'),
    instance: option('instance'),
    model: option('model'),
    action: option('action'),
    outcome: option('outcome'),
    actor: option('actor'),
  });
}

function readKind(text: string | undefined): AuditQuery['kind'] {
  if (text === undefined || text === 'call' || text === 'admin') return text;
  throw new CommandError('--kind is call or admin.');
}

function readLimit({ option }: CommandInput): number {
  const text = option('limit') ?? String(LINES_DEFAULT);
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new CommandError(`--limit "${text}" is not a positive whole number.`);
}

async function* takeFirst<Item>(items: AsyncIterable<Item>, count: number): AsyncGenerator<Item> {
  let taken = 0;
  for await (const item of items) {
    yield item;
    if (++taken === count) return;
  }
}

function describeRecord(record: AuditView): string {
  const { seq, time } = record;
  if (record.kind === 'admin') {
    return `${seq}  ${time}  ${record.actor}  ${record.action}  ${record.target}  ${Object.keys(record.changes).join(', ')}\n`;
  }
  const { key_id, instance, upstream, model, action, outcome, total_ms } = record;
  const server = instance ?? upstream ?? '-';
  return `${seq}  ${time}  key ${key_id ?? '-'}  ${server}  ${model ?? '-'}.${action ?? '-'}  ${outcome}  ${Math.round(total_ms)} ms\n`;
}
