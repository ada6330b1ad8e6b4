/**
 * The filters of an audit search: their names, their form in a URL, and their parameters in the API and the command.
 */
import {
  type AuditQuery,
  BUSINESS_ERRORS,
  CALL_SOURCES,
  COMPATIBLE_ERRORS,
  PROXY_ERRORS,
} from '@erp-proxy/contract';
import { quote } from '../../parts/print-request.ts';
import { readChoice, readFlag, readText, type SearchValues } from '../../parts/search-values.ts';

interface FilterDescription {
  label: string;
  /** An example of what to type, for a filter without choices. */
  example?: string;
  choices?: readonly string[];
}

/** All filters, in the order of the menu. */
export const FILTERS = {
  outcome: {
    label: 'Outcome',
    choices: [
      'ok',
      ...Object.keys(PROXY_ERRORS),
      ...Object.keys(BUSINESS_ERRORS),
      ...Object.keys(COMPATIBLE_ERRORS),
    ],
  },
  model: { label: 'Model', example: 'res.partner' },
  action: { label: 'Action', example: 'search_read, or key.create' },
  instance: { label: 'Instance', example: 'production' },
  client_id: { label: 'Client', example: 'id of the first key of a client' },
  key_id: { label: 'Key', example: 'id of a key' },
  address: { label: 'Address of the caller', example: '192.0.2.10' },
  via: { label: 'Made by', choices: CALL_SOURCES },
  rule: { label: 'Policy rule', example: 'models["sale.*"]' },
  approval: { label: 'Approval', example: 'id of an approval' },
  upstream: { label: 'Odoo server', example: 'https://odoo.example.com' },
  db: { label: 'Database', example: 'production' },
  request_id: { label: 'Request', example: 'x-request-id of the answer' },
  person: { label: 'Person', example: '<issuer>/<subject>' },
  trace_id: { label: 'Trace', example: '32 hex digits' },
  actor: { label: 'Administrator', example: 'id, such as session' },
  code: { label: 'Code of the error', example: '-32003' },
  http_status: { label: 'HTTP status', example: '502' },
} as const satisfies Record<string, FilterDescription>;

export type FilterName = keyof typeof FILTERS;

export const FILTER_NAMES = Object.keys(FILTERS) as FilterName[];

export const KINDS = ['call', 'admin'] as const;

/** Periods up to now, with their durations in milliseconds. */
export const LAST = {
  '15m': { label: 'Last 15 minutes', durationMs: 15 * 60_000 },
  '1h': { label: 'Last hour', durationMs: 3_600_000 },
  '6h': { label: 'Last 6 hours', durationMs: 6 * 3_600_000 },
  '24h': { label: 'Last 24 hours', durationMs: 24 * 3_600_000 },
  '7d': { label: 'Last 7 days', durationMs: 7 * 86_400_000 },
  '30d': { label: 'Last 30 days', durationMs: 30 * 86_400_000 },
} as const;

export type LastName = keyof typeof LAST;

export const LAST_NAMES = Object.keys(LAST) as LastName[];

/** The values of all filters. */
export type AuditSearch = Record<FilterName | 'since' | 'until', string | undefined> & {
  kind: (typeof KINDS)[number] | undefined;
  last: LastName | undefined;
  errors_only: true | undefined;
};

/** Reads a search from the values of a URL. */
export function readAuditSearch(values: SearchValues): AuditSearch {
  const last = readChoice(values['last'], LAST_NAMES);
  const filters = Object.fromEntries(FILTER_NAMES.map((name) => [name, readText(values[name])]));
  return {
    ...(filters as Record<FilterName, string | undefined>),
    kind: readChoice(values['kind'], KINDS),
    last,
    errors_only: readFlag(values['errors_only']),
    since: last === undefined ? readTime(values['since']) : undefined,
    until: last === undefined ? readTime(values['until']) : undefined,
  };
}

/** Only the search of a URL, without the page's other parameters. */
export function pickSearch(values: AuditSearch): AuditSearch {
  return readAuditSearch(values);
}

/** The query of the API. `now` is in milliseconds since 1970. */
export function toAuditQuery({ last, since, until, ...filters }: AuditSearch, now: number): AuditQuery {
  const from = last === undefined ? since : new Date(now - LAST[last].durationMs).toISOString();
  const given = Object.entries({ ...filters, since: from, until }).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given);
}

export function hasFilters(search: AuditSearch): boolean {
  return Object.values(search).some((value) => value !== undefined);
}

/** Prints the command for the same search, without `npx erp-proxy`. */
export function printAuditCommand(verb: 'list' | 'export', { last, since, ...search }: AuditSearch): string {
  const options = Object.entries({ ...search, since: last ?? since }).flatMap(([name, value]) =>
    value === undefined ? [] : printOption(`--${name.replaceAll('_', '-')}`, value),
  );
  return ['audit', verb, ...options].join(' ');
}

function printOption(name: string, value: string | true): string {
  if (value === true) return name;
  // The form with `=`, because a value that begins with a dash would be read as an option.
  return value.startsWith('-') ? `${name}=${quoteIfNeeded(value)}` : `${name} ${quoteIfNeeded(value)}`;
}

function quoteIfNeeded(text: string): string {
  return /^[\w.:/@-]+$/.test(text) ? text : quote(text);
}

function readTime(value: unknown): string | undefined {
  const text = readText(value);
  return text === undefined || Number.isNaN(Date.parse(text)) ? undefined : text;
}
