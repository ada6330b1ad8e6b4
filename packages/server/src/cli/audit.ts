/** `audit …`: lists, exports and verifies the audit, and compares it with a sink. */
import { type FileHandle, open } from 'node:fs/promises';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { type AuditQuery, type AuditView, CALL_SOURCES } from '@erp-proxy/contract';
import { AUDIT_FORMATS, type AuditComparison, formatAudit } from '@erp-proxy/control/audit';
import { nameAuditSink } from '../app/open-audit-sink.ts';
import { explainReadError } from '../config/read-error.ts';
import {
  type Command,
  CommandError,
  type CommandInput,
  type CommandOption,
  printResult,
  readNumber,
} from './command.ts';
import { type Column, printEach, printList } from './print-list.ts';
import { readMoment } from './read-time.ts';
import { ADMIN_OPTIONS, listAll, openLocalAdmin, pickGiven, useAdmin } from './use-admin.ts';

const FILTER_OPTIONS = {
  since: {
    value: 'time',
    description: 'Start of the period, inclusive: 7d, 2026-03-01, 2026-03-01T08:00:00Z.',
  },
  until: { value: 'time', description: 'End of the period, exclusive; as --since.' },
  kind: { choices: ['call', 'admin'], description: 'Only calls, or only administrative actions.' },
  'key-id': { value: 'id', description: 'Only calls with this client key.' },
  'client-id': {
    value: 'id',
    description: 'Only calls of this client, also with keys that were rotated since.',
  },
  approval: { value: 'id', description: 'Only calls that asked for or used this approval.' },
  via: {
    value: 'source',
    choices: CALL_SOURCES,
    description: `Only calls that this made: ${CALL_SOURCES.join(', ')}.`,
  },
  instance: { value: 'name', description: 'Only calls to this instance.' },
  model: { value: 'model', description: 'Only calls to this model.' },
  action: { value: 'action', description: 'Only this method or administrative action, such as key.create.' },
  outcome: { value: 'type', description: 'Only calls with this outcome, such as ok or policy_denied.' },
  'errors-only': { description: 'Only calls that ended with an error.' },
  actor: { value: 'id', description: 'Only calls and actions of the actor with this id.' },
  'request-id': { value: 'id', description: 'Only calls and actions of this request.' },
  'trace-id': { value: 'id', description: 'Only calls of this trace.' },
  address: { value: 'address', description: 'Only calls and actions from this address.' },
  upstream: { value: 'url', description: 'Only calls to this Odoo server.' },
  db: { value: 'name', description: 'Only calls to databases of this name.' },
  rule: { value: 'rule', description: 'Only calls that this rule of a policy denied.' },
  code: { value: 'number', description: 'Only calls with this code of an error.' },
  'http-status': { value: 'number', description: 'Only calls with this HTTP status.' },
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

export const auditCommands: readonly Command[] = [
  {
    name: 'audit list',
    summary: 'List audit records, newest first.',
    options: {
      ...FILTER_OPTIONS,
      limit: { value: 'number', description: `Maximum number of records. Default: ${LINES_DEFAULT}.` },
      ...ADMIN_OPTIONS,
    },
    run(input) {
      const query = readFilters(input);
      const limit = readNumber(input, 'limit', /^[1-9]\d{0,8}$/, 'a positive whole number') ?? LINES_DEFAULT;
      return useAdmin(input, async (admin) => {
        const records = takeFirst(listAll(admin.listAudit, query), limit);
        return printList(input, records, COLUMNS, 'No record matches.');
      });
    },
  },
  {
    name: 'audit export',
    summary: 'Print all matching audit records, oldest first.',
    options: {
      ...FILTER_OPTIONS,
      format: { choices: AUDIT_FORMATS, description: 'Output format. Default: ndjson.' },
      url: ADMIN_OPTIONS.url,
    },
    run(input) {
      const format = (input.option('format') ?? 'ndjson') as (typeof AUDIT_FORMATS)[number];
      const query = readFilters(input);
      return useAdmin(input, async (admin) => {
        await printEach(input, formatAudit(admin.exportAudit(query), format));
        return 0;
      });
    },
  },
  {
    name: 'audit verify',
    summary: 'Check that no audit record was changed or removed. Exits with 1 if one was.',
    options: {
      head: {
        value: 'head',
        description: 'Head printed by an earlier verification, which must still be part of the chain.',
      },
      ...ADMIN_OPTIONS,
    },
    run: (input) =>
      useAdmin(input, async (admin) => {
        const verification = await admin.verifyAudit(pickGiven({ head: input.option('head') }));
        const { intact, first_seq, last_seq, head, fault } = verification;
        const text = intact
          ? `Records ${first_seq} to ${last_seq} are intact.\nhead ${head}\n`
          : `Not intact, at record ${fault?.seq}: ${fault?.problem}\n`;
        printResult(input, verification, text);
        return intact ? 0 : 1;
      }),
  },
  {
    name: 'audit compare',
    arguments: ['<file>'],
    summary:
      'Compare the file of a sink, or the logs that a collector wrote as JSON, with the audit in the store. Exits with 1 if they differ. - is standard input.',
    options: { json: ADMIN_OPTIONS.json },
    async run(input) {
      const [path = ''] = input.arguments;
      const { audit, close } = await openLocalAdmin(input, 'refuse');
      try {
        const source =
          path === '-' ? process.stdin : (await openInput(resolve(input.cwd, path), path)).createReadStream();
        const sink = path === '-' ? null : nameAuditSink(input.settings);
        const found = await audit.compare(readLines(source), sink);
        printResult(input, showComparison(found), describeComparison(found));
        return found.matches ? 0 : 1;
      } finally {
        await close();
      }
    },
  },
];

/** Begins to read with the first line that is asked for: readline drops lines that nobody waits for. */
async function* readLines(source: NodeJS.ReadableStream): AsyncGenerator<string> {
  // `crlfDelay`: a text of a record has no line breaks.
  yield* createInterface({ input: source, crlfDelay: Number.POSITIVE_INFINITY });
}

async function openInput(path: string, name: string): Promise<FileHandle> {
  return open(path).catch((error: unknown) => {
    throw new CommandError(`${name}: ${explainReadError(error)}`, 1);
  });
}

function showComparison({
  matches,
  records,
  repeated,
  firstSeq,
  lastSeq,
  storeLastSeq,
  fault,
}: AuditComparison) {
  return {
    matches,
    records,
    repeated,
    first_seq: firstSeq,
    last_seq: lastSeq,
    store_last_seq: storeLastSeq,
    fault,
  };
}

function describeComparison(found: AuditComparison): string {
  const { matches, records, repeated, firstSeq, lastSeq, storeLastSeq, fault } = found;
  if (!matches) {
    const line = fault?.line === null ? '' : `line ${fault?.line}`;
    const seq = fault?.seq === null ? '' : `record ${fault?.seq}`;
    return `They differ, at ${[line, seq].filter((part) => part !== '').join(', ')}: ${fault?.problem}\n`;
  }
  if (records === 0) return 'The sink has no records.\n';
  const again = repeated === 0 ? '' : ` ${repeated} are there more than once.`;
  return `Records ${firstSeq} to ${lastSeq} of the sink are those of the audit, which ends at ${storeLastSeq}.${again}\n`;
}

function readFilters(input: CommandInput): AuditQuery {
  const { option, isSet } = input;
  const since = option('since');
  const until = option('until');
  return pickGiven({
    since: since && readMoment('since', since),
    until: until && readMoment('until', until),
    kind: option('kind') as AuditQuery['kind'],
    key_id: option('key-id'),
    client_id: option('client-id'),
    approval: option('approval'),
    via: option('via') as AuditQuery['via'],
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
    code: readNumber(input, 'code', /^-?\d{1,9}$/),
    http_status: readNumber(input, 'http-status', /^-?\d{1,9}$/),
  });
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
  if (record.kind === 'admin') return record.actor.name;
  const { actor, key_id: key } = record;
  return actor === undefined ? key : `${actor.name} as ${key}`;
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
