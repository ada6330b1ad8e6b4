/** The audit as text: JSON lines, or a table of comma-separated values for a spreadsheet. Pure. */
import type { AuditView } from '@erp-proxy/contract';

export const AUDIT_FORMATS = ['ndjson', 'csv'] as const;
export type AuditFormat = (typeof AUDIT_FORMATS)[number];

/** Never another order: programs read columns by their number. Further ones come last. */
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
] as const;

/** A spreadsheet takes a cell that begins so for a formula, and runs it. */
const FORMULA = /^[=+\-@\t\r]/;

/** One line a record; of csv the first names the columns. */
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
  return printRow(COLUMNS.map((name) => members[name]));
}

/** By RFC 4180. */
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
