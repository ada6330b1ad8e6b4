/** `audit …`: lists, exports and verifies the audit. */
import { type AuditQuery, type AuditView, CALL_SOURCES } from '@erp-proxy/contract';
import { AUDIT_FORMATS, formatAudit } from '../audit/format.ts';
import { type Command, CommandError, type CommandInput, type CommandOption, printJson } from './command.ts';
import { type Column, printEach, printList } from './print-list.ts';
import { readMoment } from './read-time.ts';
import { ADMIN_OPTIONS, listAll, pickGiven, useAdmin } from './use-admin.ts';

const FILTER_OPTIONS = {
  since: {
    type: 'string',
    value: 'time',
    description: 'Start of the period, inclusive: 7d, 2026-03-01, 2026-03-01T08:00:00Z.',
  },
  until: { type: 'string', value: 'time', description: 'End of the period, exclusive; as --since.' },
  kind: { type: 'string', value: 'call|admin', description: 'Only calls, or only administrative acts.' },
  'key-id': { type: 'string', value: 'id', description: 'Only calls with this client key.' },
  'client-id': {
    type: 'string',
    value: 'id',
    description: 'Only calls of this client, also with keys that were rotated since.',
  },
  approval: {
    type: 'string',
    value: 'id',
    description: 'Only calls that asked for or used this approval.',
  },
  via: {
    type: 'string',
    value: 'source',
    description: `Only calls that this made: ${CALL_SOURCES.join(', ')}.`,
  },
  instance: { type: 'string', value: 'name', description: 'Only calls to this instance.' },
  model: { type: 'string', value: 'model', description: 'Only calls to this model.' },
  action: { type: 'string', value: 'action', description: 'Only this method or act, such as key.create.' },
  outcome: {
    type: 'string',
    value: 'type',
    description: 'Only calls with this outcome, such as ok or policy_denied.',
  },
  'errors-only': { type: 'boolean', description: 'Only calls that ended with an error.' },
  actor: { type: 'string', value: 'name', description: 'Only calls and acts of this administrator.' },
  'request-id': { type: 'string', value: 'id', description: 'Only calls and acts of this request.' },
  'trace-id': { type: 'string', value: 'id', description: 'Only calls of this trace.' },
  address: { type: 'string', value: 'address', description: 'Only calls and acts from this address.' },
  upstream: { type: 'string', value: 'url', description: 'Only calls to this Odoo server.' },
  db: { type: 'string', value: 'name', description: 'Only calls to databases of this name.' },
  rule: { type: 'string', value: 'rule', description: 'Only calls that this rule of a policy denied.' },
  code: { type: 'string', value: 'number', description: 'Only calls with this code of an error.' },
  'http-status': { type: 'string', value: 'number', description: 'Only calls with this HTTP status.' },
} satisfies Record<string, CommandOption>;

const LINES_DEFAULT = 50;

const COLUMNS: readonly Column<AuditView>[] = [
  { heading: 'SEQ', show: ({ seq }) => seq },
  { heading: 'TIME', show: ({ time }) => time },
  { heading: 'KIND', show: ({ kind }) => kind },
  { heading: 'BY', show: nameActor },
  { heading: 'ACTION', show: nameAction },
  { heading: 'TARGET', show: nameTarget },
  { heading: 'OUTCOME', show: describeOutcome },
  { heading: 'MS', show: (record) => (record.kind === 'call' ? Math.round(record.total_ms) : null) },
];

export const auditListCommand: Command = {
  name: 'audit list',
  arguments: [],
  summary: 'List audit records, newest first.',
  options: {
    ...FILTER_OPTIONS,
    limit: {
      type: 'string',
      value: 'number',
      description: `Maximum number of records. Default: ${LINES_DEFAULT}.`,
    },
    ...ADMIN_OPTIONS,
  },
  run(input) {
    const query = readFilters(input);
    const limit = readLimit(input);
    return useAdmin(input, async (admin) => {
      const records = takeFirst(listAll(admin.listAudit, query), limit);
      await printList(input, records, COLUMNS, 'No record matches.');
      return 0;
    });
  },
};

export const auditExportCommand: Command = {
  name: 'audit export',
  arguments: [],
  summary: 'Print all matching audit records, oldest first.',
  options: {
    ...FILTER_OPTIONS,
    format: {
      type: 'string',
      value: AUDIT_FORMATS.join('|'),
      description: 'Output format. Default: ndjson.',
    },
    url: ADMIN_OPTIONS.url,
  },
  run(input) {
    const wanted = input.option('format') ?? 'ndjson';
    const format = AUDIT_FORMATS.find((known) => known === wanted);
    if (format === undefined) throw new CommandError(`--format is one of ${AUDIT_FORMATS.join(', ')}.`);
    const query = readFilters(input);
    return useAdmin(input, async (admin) => {
      await printEach(input, formatAudit(admin.exportAudit(query), format));
      return 0;
    });
  },
};

export const auditVerifyCommand: Command = {
  name: 'audit verify',
  arguments: [],
  summary: 'Check that no audit record was changed or removed. Exits with 1 if one was.',
  options: {
    head: {
      type: 'string',
      value: 'head',
      description: 'Head printed by an earlier verification, which must still be part of the chain.',
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

function readFilters({ option, isSet }: CommandInput): AuditQuery {
  const since = option('since');
  const until = option('until');
  return pickGiven({
    since: since && readMoment('since', since),
    until: until && readMoment('until', until),
    kind: readKind(option('kind')),
    key_id: option('key-id'),
    client_id: option('client-id'),
    approval: option('approval'),
    via: readSource(option('via')),
    instance: option('instance'),
    model: option('model'),
    action: option('action'),
    outcome: option('outcome'),
    errors_only: isSet('errors-only') || undefined,
    actor: option('actor'),
    request_id: option('request-id'),
    trace_id: option('trace-id'),
    address: option('address'),
    upstream: option('upstream'),
    db: option('db'),
    rule: option('rule'),
    code: readNumber('code', option('code')),
    http_status: readNumber('http-status', option('http-status')),
  });
}

function readNumber(name: string, text: string | undefined): number | undefined {
  if (text === undefined || /^-?\d{1,9}$/.test(text)) return text === undefined ? undefined : Number(text);
  throw new CommandError(`--${name} "${text}" is not a whole number.`);
}

function readKind(text: string | undefined): AuditQuery['kind'] {
  if (text === undefined || text === 'call' || text === 'admin') return text;
  throw new CommandError('--kind is call or admin.');
}

function readSource(text: string | undefined): AuditQuery['via'] {
  const source = CALL_SOURCES.find((known) => known === text);
  if (text === undefined || source !== undefined) return source;
  throw new CommandError(`--via is one of ${CALL_SOURCES.join(', ')}.`);
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

function nameActor(record: AuditView): string | null {
  if (record.kind === 'damaged') return null;
  if (record.kind === 'admin') return record.actor;
  const { actor, key_id: key } = record;
  return actor === undefined ? key : `${actor} as ${key}`;
}

function nameAction(record: AuditView): string | null {
  if (record.kind === 'damaged') return 'damaged';
  if (record.kind === 'admin' || record.model === null) return record.action;
  return `${record.model}.${record.action ?? '-'}`;
}

function nameTarget(record: AuditView): string | null {
  if (record.kind === 'damaged') return null;
  return record.kind === 'admin' ? record.target : (record.instance ?? record.upstream);
}

function describeOutcome(record: AuditView): string {
  if (record.kind === 'damaged') return record.problem;
  return record.kind === 'admin' ? Object.keys(record.changes).join(', ') : record.outcome;
}
