/** Prepares the answer to a call for display: its table, its times, and the meaning of an error. */
import { BUSINESS_ERRORS, clipText, type ErrorBody, PROXY_ERRORS } from '@erp-proxy/contract';
import type { FieldTable } from '../../parts/odoo-fields.ts';
import { isNumber } from './exact-json.ts';

export interface AnswerTable {
  columns: string[];
  rows: Cell[][];
  /** Number of all records in the result. */
  total: number;
}

export interface Cell {
  text: string;
  /** Shown beside the text, e.g. the id of the record. */
  hint?: string;
}

export const ROWS_MAX = 200;
const CELL_LENGTH_MAX = 160;

/** `shown`: the first rows of `total`. Null if the result is not a list of records or ids. */
export function tabulate(shown: unknown, total: number, fields: FieldTable = {}): AnswerTable | null {
  if (!Array.isArray(shown) || shown.length === 0) return null;
  if (shown.every(isNumber)) {
    return { columns: ['id'], rows: shown.map((id) => [{ text: String(id) }]), total };
  }
  if (!shown.every(isObject)) return null;
  const columns = [...new Set(shown.flatMap((row) => Object.keys(row)))];
  return {
    columns,
    rows: shown.map((row) => columns.map((name) => describeCell(row[name], fields[name]?.type))),
    total,
  };
}

export function describeCell(value: unknown, type?: string): Cell {
  if (value === null || value === undefined) return { text: '' };
  if (isNumber(value)) return { text: String(value) };
  if (value === false && type !== undefined && type !== 'boolean') return { text: '' };
  if (Array.isArray(value)) {
    if (value.length === 2 && isNumber(value[0]) && typeof value[1] === 'string') {
      return { text: clip(value[1]), hint: String(value[0]) };
    }
    if (value.every(isNumber)) {
      return { text: value.length === 1 ? '1 record' : `${value.length} records` };
    }
  } else if (isObject(value) && 'id' in value && typeof value['name'] === 'string') {
    return { text: clip(value['name']), hint: String(value['id']) };
  }
  return { text: clip(typeof value === 'string' ? value : printValue(value)) };
}

function printValue(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (error instanceof RangeError) return 'nested too deep to be shown here';
    throw error;
  }
}

function clip(text: string): string {
  return clipText(text, CELL_LENGTH_MAX);
}

export interface Stage {
  name: 'Queue' | 'Odoo' | 'Proxy' | 'Transfer';
  ms: number;
}

/**
 * Splits the time of a call by the header `server-timing`. `Queue` is the wait for the Odoo database. `Transfer` is the
 * remaining time, between this page and the proxy.
 */
export function readStages(
  header: string | null,
  totalMs: number,
): { stages: Stage[]; protocol: string | null } {
  const read = (name: string) => Number(new RegExp(`\\b${name};dur=([\\d.]+)`).exec(header ?? '')?.[1] ?? 0);
  const queueMs = read('queue');
  const upstreamMs = read('upstream');
  const proxyMs = read('proxy');
  return {
    stages: [
      // Shown only if the call waited, which is rare.
      ...(queueMs === 0 ? [] : [{ name: 'Queue' as const, ms: queueMs }]),
      { name: 'Odoo', ms: upstreamMs },
      { name: 'Proxy', ms: proxyMs },
      { name: 'Transfer', ms: Math.max(0, totalMs - queueMs - upstreamMs - proxyMs) },
    ],
    protocol: /desc="([^"]*)"/.exec(header ?? '')?.[1] ?? null,
  };
}

export interface ErrorDescription {
  title: string;
  /** When the proxy sends this type of error. */
  meaning: string;
  /** What to do; null if the message says it. */
  remedy: string | null;
  retry: string;
  outcome: string | null;
}

const OUTCOMES: Record<string, string> = {
  not_sent: 'The call did not reach Odoo.',
  rolled_back: 'Odoo started the call and rolled it back.',
  unknown: 'The call may have run. Check in Odoo before you send a write again.',
};

export function describeError({ data }: ErrorBody): ErrorDescription {
  const { type, retryable, outcome } = data;
  const own = lookUp(PROXY_ERRORS, type);
  const row = own ?? lookUp(BUSINESS_ERRORS, type);
  const name = type.replaceAll('_', ' ');
  return {
    title: name.charAt(0).toUpperCase() + name.slice(1),
    meaning: toPlainText(row?.when ?? 'The call failed.'),
    remedy: own === undefined ? null : toPlainText(own.remedy),
    retry: retryable ? 'The same call may be sent again.' : 'Do not send the same call again as it is.',
    outcome: outcome === undefined ? null : (OUTCOMES[outcome] ?? outcome),
  };
}

function lookUp<Row>(table: Record<string, Row>, type: string): Row | undefined {
  return Object.hasOwn(table, type) ? table[type] : undefined;
}

/** Removes Markdown from a text of the error table. */
function toPlainText(text: string): string {
  return text.replaceAll(/\[([^\]]+)\]\([^)]*\)/g, '$1').replaceAll('`', '');
}

/**
 * Replaces the unknown name in the arguments. The error's message contains it, in quotes or not. Null if no word of the
 * message is in the arguments.
 */
export function replaceName(
  args: Record<string, string>,
  message: string,
  name: string,
): Record<string, string> | null {
  for (const [word] of message.matchAll(/[A-Za-z_][A-Za-z0-9_]*/g)) {
    // Matches the word as a whole name within a JSON string: `"nam"`, `"partner_id.nam"`, `"nam desc"`.
    const pattern = new RegExp(`(?<=["., /:])${word}(?=["., /:])`, 'g');
    const changed = Object.entries(args).map(([key, text]) => [key, text.replaceAll(pattern, name)] as const);
    if (changed.some(([key, text]) => text !== args[key])) return Object.fromEntries(changed);
  }
  return null;
}

/** Prints a size, e.g. `1.2 MB`. */
export function printSize(bytes: number): string {
  if (bytes < 1_000) return `${bytes} bytes`;
  return bytes < 1_000_000 ? `${(bytes / 1_000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
