/** Formats audit records as JSON lines, or as comma-separated values for a spreadsheet. Pure. */
import type { AuditView } from '@erp-proxy/contract';

export const AUDIT_FORMATS = ['ndjson', 'csv'] as const;
export type AuditFormat = (typeof AUDIT_FORMATS)[number];

/** The columns of CSV. The order never changes, because programs read columns by number. New columns come last. */
const COLUMNS = [
  'seq',
  'time',
  'kind',
  'request_id',
  'key_id',
  'instance',
  'upstream',
  'db',
  'model',
  'action',
  'outcome',
  'code',
  'http_status',
  'batch_index',
  'total_ms',
  'upstream_ms',
  'actor',
  'address',
  'target',
  'changes',
  'rule',
  'problem',
  'client_id',
  'approval',
  'via',
  'trace_id',
  'actor_type',
  'actor_name',
  'instances',
  'person',
  'odoo_login',
] as const;

/** The beginning of a text that a spreadsheet runs as a formula. */
const FORMULA = /^[=+\-@\t\r]/;

/** Yields one line for each record. The first line of CSV names the columns. */
export async function* formatAudit(
  records: AsyncIterable<AuditView>,
  format: AuditFormat,
): AsyncGenerator<string> {
  if (format === 'csv') yield printRow(COLUMNS);
  for await (const record of records) {
    yield format === 'csv' ? printRecord(record) : `${JSON.stringify(record)}\n`;
  }
}

function printRecord(record: AuditView): string {
  const members: Record<string, unknown> = { ...record };
  if ('actor' in record && record.actor !== undefined) {
    const { type, id, name } = record.actor;
    Object.assign(members, { actor: id, actor_type: type, actor_name: name });
  }
  return printRow(COLUMNS.map((name) => members[name]));
}

/** Prints a row as RFC 4180 defines it. */
function printRow(values: readonly unknown[]): string {
  return `${values.map(printCell).join(',')}\r\n`;
}

function printCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value !== 'string') return quote(JSON.stringify(value));
  return quote(FORMULA.test(value) ? `'${value}` : value);
}

function quote(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
